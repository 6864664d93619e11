// Defines the options with which all programs of the fleet reach the store: the endpoints and the
// certificate files.
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

// Adds the options to the command line. `whose` is put into the help text, to say whose certificate
// the program uses.
void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose);

}  // namespace fleet
