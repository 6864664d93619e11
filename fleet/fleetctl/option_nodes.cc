// The command lines of fleetctl command, restored and accept-epoch.
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/ids.h"

namespace fleetctl {

void add_node_orders(CLI::App& app, Options& options) {
  CLI::App& command =
      add(app, options, Command::node_command, "command", "order one thing of one node, and wait");
  command.add_option("NODE", options.node, "its name")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a node"));
  const std::map<std::string, fleet::CommandAction> actions{
      {"prepare", fleet::CommandAction::prepare},
      {"upgrade", fleet::CommandAction::upgrade},
      {"reboot", fleet::CommandAction::reboot}};
  command.add_option("ACTION", options.action, "prepare, upgrade or reboot")
      ->type_name("")
      ->required()
      ->transform(CLI::CheckedTransformer(actions).description(""));
  command.add_option("VERSION", options.version, "of a release; to prepare, and to upgrade")
      ->type_name("")
      ->check(form(&fleet::is_version_name, "a version"));
  command.add_option("--component", options.component, "otherwise `agent`")
      ->type_name("NAME")
      ->check(form(&fleet::is_component, "the name of a component"));
  // Sets the default of --component for this command alone: the other commands that use the same
  // variable have no default.
  command.callback([&options] {
    options.command = Command::node_command;
    if (options.component.empty()) options.component = "agent";
  });
  add_duration(command, "--not-after", options.not_after_s, std::chrono::seconds{1},
               "it is not begun any later than that");
  command.add_flag("--downgrade", options.downgrade, "also to an older version");

  add(app, options, Command::restored, "restored",
      "say that the store was restored from a snapshot: everything halts")
      .add_option("--why", options.why, "for the records")
      ->type_name("TEXT");
  add(app, options, Command::accept_epoch, "accept-epoch",
      "let nodes go on with a store that was restored");
}

}  // namespace fleetctl
