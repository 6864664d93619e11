// Defines the options that all programs of the fleet have: --help and --version, and the endpoints
// and certificate files with which a program reaches the store.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/http2.h"

namespace CLI {
class App;
}

namespace fleet {

struct StoreOptions {
  std::vector<std::string> endpoints = {};
  Certificates certificates = {};
};

// Adds --help and --version to the command line. --version prints `version`.
void add_help_options(CLI::App& app, const std::string& version);

// Adds the options for the store to the command line. `whose` is put into the help text, to say
// whose certificate the program uses.
void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose);

}  // namespace fleet
