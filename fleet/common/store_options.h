// The options about the store, which all programs of the fleet have.
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

// Adds the options. `whose` says in the help whose certificate the program shows to the store.
void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose);

}  // namespace fleet
