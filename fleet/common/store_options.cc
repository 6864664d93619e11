#include "fleet/common/store_options.h"

#include <CLI/CLI.hpp>

#include "base/empty_value.h"

namespace fleet {

void add_help_options(CLI::App& app, const std::string& version) {
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", version, "print the version and exit");
}

void parse(CLI::App& app, int argc, const char* const* argv) {
  if (const std::string option = upgrader::option_with_empty_value(argc, argv); !option.empty()) {
    throw CLI::ValidationError(option, "its value is empty");
  }
  app.parse(argc, argv);
}

Text text_for(const CLI::App& app, const CLI::Error& error, int status_wrong) {
  if (error.get_name() == "CallForVersion") return {error.what() + std::string("\n"), 0};
  if (error.get_exit_code() != 0)
    return {app.get_name() + ": " + error.what() + "; see --help\n", status_wrong};
  const auto chosen = app.get_subcommands();
  return {chosen.empty() ? app.help() : chosen.front()->help(app.get_name()), 0};
}

void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose) {
  app.add_option("--endpoint", store.endpoints,
                 "URL of a member of the store (etcd); may be repeated")
      ->type_name("URL")
      ->allow_extra_args(false);
  app.add_option("--ca", store.certificates.authority,
                 "PEM file of the CA that signs the certificates of the store's members")
      ->type_name("FILE");
  app.add_option("--cert", store.certificates.own,
                 "PEM file of " + whose + " client certificate for the store")
      ->type_name("FILE");
  app.add_option("--key", store.certificates.key, "PEM file of the private key of --cert")
      ->type_name("FILE");
}

}  // namespace fleet
