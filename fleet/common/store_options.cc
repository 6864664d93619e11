#include "fleet/common/store_options.h"

#include <CLI/CLI.hpp>

namespace fleet {

void add_store_options(CLI::App& app, StoreOptions& store, const std::string& whose) {
  app.add_option("--endpoint", store.endpoints, "a member of the store; may be given again")
      ->type_name("URL")
      ->allow_extra_args(false);
  app.add_option("--ca", store.certificates.authority, "whom members are signed by")
      ->type_name("FILE");
  app.add_option("--cert", store.certificates.own, whose + " certificate")->type_name("FILE");
  app.add_option("--key", store.certificates.key, "its key")->type_name("FILE");
}

}  // namespace fleet
