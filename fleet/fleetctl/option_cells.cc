// Defines the command lines of `fleetctl dev`, `cell`, `plan`, `window`, `command`, `restored` and
// `accept-epoch`, and of the commands for owners of certificates: `enrol`, `renew`, `revoke` and
// `forget`.
#include "fleet/cell/cell_terms.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/common/authority.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/records/keys.h"

namespace fleetctl {
namespace {

void add_machines(CLI::App& app, const std::string& name, std::vector<fleet::CellMachine>& machines,
                  const std::string& about) {
  const auto take = [name, &machines](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto machine = fleet::machine_in(text);
      if (!machine || !fleet::is_ip_address(machine->address))
        throw CLI::ValidationError(name, text + ": needs NAME=ADDRESS, and an IP address");
      machines.push_back(*machine);
    }
  };
  app.add_option_function<std::vector<std::string>>(name, take, about)
      ->type_name("NAME=ADDRESS")
      ->allow_extra_args(false);
}

void add_directory(CLI::App& app, Options& options) {
  app.add_option("DIR", options.directory, "directory of the cell's CAs, certificates and archives")
      ->type_name("")
      ->required();
}

CLI::App& add_name(CLI::App& app, Options& options) {
  app.add_option("PLAN", options.plan, "name of the plan")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a plan"));
  return app;
}

CLI::App& add_group(CLI::App& app, Options& options) {
  app.add_option("GROUP", options.group,
                 "value of the label `group`, or `all` for nodes whose group has no window")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a group"));
  return app;
}

}  // namespace

void add_cells(CLI::App& app, Options& options) {
  CLI::App& dev = add(app, options, &run_dev, "dev",
                      "run a whole cell on this machine, for trial, until interrupted");
  dev.add_option("--nodes", options.nodes, "number of simulated machines")
      ->type_name("N")
      ->check(CLI::Range(1, fleet::dev_nodes_max));
  dev.add_option("--dir", options.directory,
                 "directory in which the cell is kept for the next start")
      ->type_name("DIR");

  CLI::App& cell = *app.add_subcommand(
      "cell", "set up or check a cell, which is a store, its controllers and its nodes");
  cell.require_subcommand(1);
  cell.fallthrough();
  CLI::App& init = add(cell, options, &init_cell, "init",
                       "make the certificates and settings for all machines of a cell");
  add_directory(init, options);
  add_machines(init, "--member", options.cell.members,
               "name and IP address of a machine of the store; may be repeated");
  add_machines(init, "--controller", options.cell.controllers,
               "name and IP address of a machine with a controller; may be repeated");
  init.add_option("--signer", options.cell.signers,
                  "name of a machine with fleet-signer; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_directory(add(cell, options, &start_cell, "start",
                    "turn on access control in the store, with each controller as a user"),
                options);
  add(cell, options, &check_cell, "check", "check a cell, and say what to do about each fault");
}

void add_plans(CLI::App& app, Options& options) {
  CLI::App& plan =
      *app.add_subcommand("plan", "run or show plans, which are ordered steps over several nodes");
  plan.require_subcommand(1);
  plan.fallthrough();
  CLI::App& run = add(plan, options, &run_plan, "run", "begin a plan");
  run.add_option("FILE", options.file, "JSON file of the plan, see fleet(7)")
      ->type_name("")
      ->required();
  run.add_option("--name", options.plan,
                 "name of the plan; by default the name of FILE without .json")
      ->type_name("NAME")
      ->check(form(&fleet::is_id, "the name of a plan"));
  run.add_option("--target", options.target,
                 "run the plan only on enrolled nodes that the target EXPR selects")
      ->type_name("EXPR");
  run.add_flag("--ignore-window", options.ignore_window,
               "begin also outside the windows of the nodes");
  run.add_flag("--wait", options.wait,
               "wait until the plan has ended; exit with 4 if the plan is not completed");
  add(plan, options, &list_plans, "list", "list all plans, with their progress");
  add_name(add(plan, options, &show_plan, "show", "show one plan, node by node"), options);
  add_name(add(plan, options, &recover_plan, "recover",
               "remove the records of an ended run, so that the next run begins anew"),
           options);
}

void add_windows(CLI::App& app, Options& options) {
  CLI::App& window =
      *app.add_subcommand("window", "set, list or remove the times at which upgrades may begin");
  window.require_subcommand(1);
  window.fallthrough();
  CLI::App& set = add(window, options, &set_window, "set",
                      "set the times at which upgrades may begin on a group of nodes");
  add_group(set, options);
  set.add_option("--days", options.window.days,
                 "days on which the window opens, mon to sun; every day by default")
      ->type_name("DAY,...")
      ->delimiter(',');
  set.add_option("--start", options.window.start, "local time at which the window opens")
      ->type_name("HH:MM")
      ->required();
  add_duration(set, "--duration", options.window.duration_s, std::chrono::seconds{1},
               "time for which the window stays open", true);
  set.add_option("--time-zone", options.window.time_zone,
                 "time zone from tzdata, or `site-local` for the time zone of each node")
      ->type_name("ZONE")
      ->default_val("UTC");
  add(window, options, &list_windows, "list", "list all windows, with their next openings");
  add_group(add(window, options, &remove_window, "remove", "remove the window of a group of nodes"),
            options);
}

void add_node_orders(CLI::App& app, Options& options) {
  CLI::App& command = add(app, options, &order_node, "command",
                          "send one command to one node, and wait for the answer");
  command.add_option("NODE", options.node, "name of the node")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a node"));
  command.add_option("ACTION", options.action, "command for the node: prepare, upgrade or reboot")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember({"prepare", "reboot", "upgrade"}).description(""));
  command
      .add_option("VERSION", options.version,
                  "version of a published release, for prepare and upgrade")
      ->type_name("")
      ->check(form(&fleet::is_version_name, "a version"));
  command.add_option("--component", options.component, "component of the node; `agent` by default")
      ->type_name("NAME")
      ->check(form(&fleet::is_component, "the name of a component"));
  // Only `fleetctl command` has a default for --component. Other commands share the variable, so it
  // is set here.
  command.callback([&options] {
    options.command = &order_node;
    if (options.component.empty()) options.component = "agent";
  });
  add_duration(command, "--not-after", options.not_after_s, std::chrono::seconds{1},
               "time within which the node must begin the command");
  command.add_flag("--downgrade", options.downgrade,
                   "allow a version that is older than the running version");

  add(app, options, &restored, "restored",
      "record that the store was restored from a snapshot, and let no node act")
      .add_option("--why", options.why, "reason to keep in the records")
      ->type_name("TEXT");
  add(app, options, &accept_epoch, "accept-epoch",
      "let nodes continue with the records of a restored store");
}

// ---- the options of the commands for owners of certificates

namespace {

CLI::App& add_one(CLI::App& app, Options& options, Command command, const std::string& name,
                  const std::string& about) {
  CLI::App& one = add(app, options, command, name, about);
  one.add_option("NAME", options.node, "name of the node, person or controller")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "at most 63 small letters, digits, `.` and `-`"));
  return one;
}

void add_role(CLI::App& app, Options& options) {
  app.add_option("--role", options.role,
                 "role of NAME, if not a node: viewer, operator, publisher, controller or admin")
      ->type_name("ROLE")
      ->check(form(&fleet::is_role, "viewer, operator, publisher, controller or admin"));
}

void add_signer(CLI::App& app, Options& options, bool required) {
  app.add_option("--signer", options.signer, "PEM file of the CA certificate to sign with")
      ->type_name("FILE")
      ->required(required);
  app.add_option("--signer-key", options.signer_key, "PEM file of the private key of --signer")
      ->type_name("FILE")
      ->required(required);
}

void add_days(CLI::App& app, Options& options) {
  app.add_option("--days", options.days, "validity of a signed certificate, in days")
      ->type_name("N")
      ->check(CLI::Range(1, 3'650));
}

}  // namespace

void add_enrolment(CLI::App& app, Options& options) {
  CLI::App& enrol = add_one(app, options, &fleetctl::enrol, "enrol",
                            "sign a certificate request, and make NAME a user of the store");
  add_role(enrol, options);
  enrol
      .add_option("--request", options.request,
                  "PEM file of the certificate request, made with the private key of NAME")
      ->type_name("FILE")
      ->required();
  add_signer(enrol, options, true);
  enrol.add_option("--output", options.output, "file to write the certificate to")
      ->type_name("FILE")
      ->required();
  add_days(enrol, options);

  CLI::App& renew = add(app, options, &fleetctl::renew, "renew",
                        "sign the requests of nodes whose certificates expire soon");
  add_signer(renew, options, true);
  add_days(renew, options);

  CLI::App& revoke = add_one(app, options, &fleetctl::revoke, "revoke",
                             "remove a node, person or controller from the users of the store");
  add_role(revoke, options);
  add_signer(revoke, options, false);
  revoke
      .add_option("--crl", options.revocations,
                  "revocation list (CRL) file to which the certificates of NAME are added")
      ->type_name("FILE")
      ->needs("--signer", "--signer-key");
  revoke
      .add_option("--restart", options.restart,
                  "program to run with the URL of each --endpoint, to restart this member")
      ->type_name("PROGRAM");

  CLI::App& forget = add_one(app, options, &fleetctl::forget, "forget",
                             "remove the records of a node or controller that is gone");
  forget.get_option("NAME")->description("name of the node or controller");
  forget.add_flag("--controller", options.is_controller,
                  "forget the controller NAME instead of a node");
}

}  // namespace fleetctl
