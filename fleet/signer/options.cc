#include "fleet/signer/options.h"

#include <CLI/CLI.hpp>

#include "base/version.h"

namespace fleet {

std::variant<SignerOptions, SignerText> signer_options(int argc, char** argv) {
  SignerOptions options;
  const std::string version = std::string("fleet-signer ") + upgrader::upgrader_version;
  CLI::App app(
      "signs the certificates of machines that join a cell, and of those that renew theirs",
      "fleet-signer");
  app.set_version_flag("--version", version);
  add_store_options(app, options.store, "its");
  app.add_option("--signer", options.signer, "the authority's certificate")
      ->type_name("FILE")
      ->required();
  app.add_option("--signer-key", options.signer_key, "its key")->type_name("FILE")->required();
  app.add_option("--days", options.days, "how long what it signs is good")
      ->type_name("N")
      ->check(CLI::Range(1, 3'650));
  try {
    app.parse(argc, argv);
    if (options.store.endpoints.empty()) throw CLI::RequiredError("--endpoint");
  } catch (const CLI::Success&) {
    const bool wants_version = app.get_option("--version")->count() > 0;
    return SignerText{wants_version ? version + "\n" : app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return SignerText{std::string("fleet-signer: ") + error.what() + "; see --help\n", 2};
  }
  return options;
}

}  // namespace fleet
