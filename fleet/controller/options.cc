#include "fleet/controller/options.h"

#include <CLI/CLI.hpp>

#include "fleet/model/driver_events.h"
#include "upgrader/version.h"

namespace fleet {

std::variant<ControllerOptions, ControllerText> controller_options(int argc, char** argv) {
  ControllerOptions options;
  const std::string version = std::string("fleet-controller ") + upgrader::upgrader_version;
  CLI::App app("drives the rollouts and the desired versions of a cell, beside others like it",
               "fleet-controller");
  app.set_version_flag("--version", version);
  app.add_option("--name", options.name, "its own; otherwise its host and its process")
      ->type_name("TEXT");
  app.add_option("--endpoint", options.endpoints, "a member of the store; may be given again")
      ->type_name("URL")
      ->allow_extra_args(false);
  app.add_option("--ca", options.authority, "whom members are signed by")->type_name("FILE");
  app.add_option("--cert", options.certificate, "its certificate")->type_name("FILE");
  app.add_option("--key", options.key, "its key")->type_name("FILE");
  app.add_option("--lease", options.lease_s, "how long what it drives is its own, unheard")
      ->type_name("S")
      ->check(CLI::Range(2, static_cast<int>(driver_lease_ms / 1'000)));
  app.add_option("--observe", options.observe_s,
                 "how long a desired version runs beside the old one, at least")
      ->type_name("S")
      ->check(CLI::Range(0, 86'400));
  try {
    app.parse(argc, argv);
    if (options.endpoints.empty()) throw CLI::RequiredError("--endpoint");
  } catch (const CLI::Success&) {
    const bool wants_version = app.get_option("--version")->count() > 0;
    return ControllerText{wants_version ? version + "\n" : app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return ControllerText{std::string("fleet-controller: ") + error.what() + "; see --help\n", 2};
  }
  return options;
}

}  // namespace fleet
