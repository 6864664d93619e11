// Defines the options that all programs of the fleet have: --help, --version, and those for the
// store's endpoints and certificates. Also makes the text that a program prints for --help, for
// --version, or for a wrong command line.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/http2.h"

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace fleet {

struct StoreOptions {
  std::vector<std::string> endpoints = {};
  Certificates certificates = {};
};

// A text that a program prints before it exits, such as the help.
struct Text {
  std::string text;
  int status = 0;  // the program's exit status
};

// Adds --help and --version to the command line. --version prints `version`.
void add_help_options(CLI::App& app, const std::string& version);
// Parses the command line. Throws a CLI::Error if the command line is wrong, an option has an empty
// value, or --help or --version is given.
void parse(CLI::App& app, int argc, const char* const* argv);
// Returns the text for an exception of the command line's parser: the help, the version, or an
// error with the exit status `status_wrong`.
[[nodiscard]] Text text_for(const CLI::App& app, const CLI::Error& error, int status_wrong = 2);

// Adds the options for the store. `whose` names the certificate's owner in the help texts.
void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose);

}  // namespace fleet
