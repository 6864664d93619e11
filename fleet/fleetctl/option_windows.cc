// The command line of fleetctl window.
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/ids.h"

namespace fleetctl {
namespace {

CLI::App& add_group(CLI::App& app, Options& options) {
  app.add_option("GROUP", options.group, "as nodes' label `group` has it, or `all`")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a group"));
  return app;
}

}  // namespace

void add_windows(CLI::App& app, Options& options) {
  CLI::App& window = *app.add_subcommand("window", "when something may begin");
  window.require_subcommand(1);
  window.fallthrough();
  CLI::App& set = add(window, options, Command::window_set, "set", "for a group of nodes");
  add_group(set, options);
  set.add_option("--days", options.window.days, "mon to sun; otherwise every day")
      ->type_name("DAY,...")
      ->delimiter(',');
  set.add_option("--start", options.window.start, "local time")->type_name("HH:MM")->required();
  add_duration(set, "--duration", options.window.duration_s, std::chrono::seconds{1},
               "how long it is open", true);
  set.add_option("--time-zone", options.window.time_zone, "of tzdata, or `site-local`: the node's")
      ->type_name("ZONE")
      ->default_val("UTC");
  add(window, options, Command::window_list, "list", "every window, and when it opens next");
  add_group(add(window, options, Command::window_remove, "remove", "of a group of nodes"), options);
}

}  // namespace fleetctl
