// Defines the command lines of `fleetctl dev`, `cell`, `plan`, `window`, `command`, `restored` and
// `accept-epoch`. Also defines those of the commands that admit and remove people and machines:
// `enrol`, `renew`, `revoke`, `forget`, `token` and `approve`.
#include "fleet/cell/cell_terms.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/common/authority.h"
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_rules.h"
#include "fleet/model/target_match.h"

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
  app.add_option("DIR", options.directory, "where the cell's authorities are kept")
      ->type_name("")
      ->required();
}

CLI::App& add_name(CLI::App& app, Options& options) {
  app.add_option("PLAN", options.plan, "its name")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a plan"));
  return app;
}

CLI::App& add_group(CLI::App& app, Options& options) {
  app.add_option("GROUP", options.group, "as nodes' label `group` has it, or `all`")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a group"));
  return app;
}

}  // namespace

void add_cells(CLI::App& app, Options& options) {
  CLI::App& dev = add(app, options, Command::dev, "dev", "a whole cell on this machine, to try");
  dev.add_option("--nodes", options.nodes, "so many machines")
      ->type_name("N")
      ->check(CLI::Range(1, fleet::dev_nodes_max));
  dev.add_option("--dir", options.directory, "keep it there, and go on with it")->type_name("DIR");

  CLI::App& cell = *app.add_subcommand("cell", "set up a cell, and look after it");
  cell.require_subcommand(1);
  cell.fallthrough();
  CLI::App& init = add(cell, options, Command::cell_init, "init",
                       "make the certificates and settings of its machines");
  add_directory(init, options);
  add_machines(init, "--member", options.cell.members, "a machine of the store");
  add_machines(init, "--controller", options.cell.controllers, "a machine with a controller");
  init.add_option("--signer", options.cell.signers, "a machine that signs certificates")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_directory(add(cell, options, Command::cell_start, "start",
                    "let users, roles and controllers into its store"),
                options);
  add(cell, options, Command::cell_check, "check", "what is well, what is not, and what to do");
}

void add_plans(CLI::App& app, Options& options) {
  CLI::App& plan = *app.add_subcommand("plan", "what must happen everywhere together");
  plan.require_subcommand(1);
  plan.fallthrough();
  CLI::App& run = add(plan, options, Command::plan_run, "run", "begin one");
  run.add_option("FILE", options.file, "its steps, as fleet(7) has them")
      ->type_name("")
      ->required();
  run.add_option("--name", options.plan, "of the plan; otherwise that of the file")
      ->type_name("NAME")
      ->check(form(&fleet::is_id, "the name of a plan"));
  run.add_option("--target", options.target, "only these of the nodes that are enrolled")
      ->type_name("EXPR");
  run.add_flag("--ignore-window", options.ignore_window, "begin at any time");
  run.add_flag("--wait", options.wait, "until it has ended, and say how");
  add(plan, options, Command::plan_list, "list", "every plan, and how far it is");
  add_name(add(plan, options, Command::plan_show, "show", "one plan, member by member"), options);
  add_name(add(plan, options, Command::plan_recover, "recover",
               "remove what a run has left, so that the next begins anew"),
           options);
}

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
  // Set the default of --component only if this command was given, since other commands use the
  // same variable without a default.
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

// ---- the owners of certificates, and machines that join

namespace {

CLI::App& add_one(CLI::App& app, Options& options, Command command, const std::string& name,
                  const std::string& about) {
  CLI::App& one = add(app, options, command, name, about);
  one.add_option("NAME", options.node, "of the node, or of the person")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "at most 63 small letters, digits, `.` and `-`"));
  return one;
}

void add_role(CLI::App& app, Options& options) {
  app.add_option("--role", options.role,
                 "of a person: viewer, operator, publisher, admin; or"
                 " controller. Otherwise it is a node")
      ->type_name("ROLE")
      ->check(form(&fleet::is_role, "viewer, operator, publisher, controller or admin"));
}

void add_signer(CLI::App& app, Options& options, bool required) {
  app.add_option("--signer", options.signer, "the authority's certificate")
      ->type_name("FILE")
      ->required(required);
  app.add_option("--signer-key", options.signer_key, "its key")
      ->type_name("FILE")
      ->required(required);
}

void add_days(CLI::App& app, Options& options) {
  app.add_option("--days", options.days, "how long it is good")
      ->type_name("N")
      ->check(CLI::Range(1, 3'650));
}

// Returns whether the text can be a glob for node names. A glob may contain the characters of node
// names, `*`, `?`, `!` and brackets.
bool is_node_glob(std::string_view text) {
  return !text.empty() && text.size() <= 2 * fleet::id_bytes_max && fleet::is_glob(text) &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-*?[]!") == text.npos;
}

void add_label(CLI::App& app, Options& options) {
  const auto take = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::size_t at = text.find('=');
      if (at == text.npos || !fleet::is_id(text.substr(0, at)))
        throw CLI::ValidationError("--label", text + ": needs NAME=VALUE");
      options.token.labels[text.substr(0, at)] = text.substr(at + 1);
    }
  };
  app.add_option_function<std::vector<std::string>>("--label", take,
                                                    "of the nodes; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_create(CLI::App& token, Options& options) {
  CLI::App& create = add(token, options, Command::token_create, "create",
                         "make one, and print it; it is shown this once");
  add_label(create, options);
  create.add_option("--node", options.token.nodes, "only for names like this")
      ->type_name("GLOB")
      ->check(form(&is_node_glob, "small letters, digits, `.`, `-`, `*`, `?` and brackets"));
  create.add_option("--uses", options.token.uses, "how many machines it lets in")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, fleet::token_uses_max));
  add_duration(create, "--expires", options.expires_s, std::chrono::seconds(1),
               "how long it lets them in");
  create
      .add_option("--release-key", options.release_keys,
                  "a public key of releases that machines take; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace

void add_enrolment(CLI::App& app, Options& options) {
  CLI::App& enrol =
      add_one(app, options, Command::enrol, "enrol", "sign a request, and let whoever made it in");
  add_role(enrol, options);
  enrol.add_option("--request", options.request, "made with his own key")
      ->type_name("FILE")
      ->required();
  add_signer(enrol, options, true);
  enrol.add_option("--output", options.output, "the certificate")->type_name("FILE")->required();
  add_days(enrol, options);

  CLI::App& renew =
      add(app, options, Command::renew, "renew", "sign what nodes have asked for, of their own");
  add_signer(renew, options, true);
  add_days(renew, options);

  CLI::App& revoke = add_one(app, options, Command::revoke, "revoke", "let somebody in no longer");
  add_role(revoke, options);
  revoke
      .add_option("--crl", options.revocations, "the list of revoked certificates, to be extended")
      ->type_name("FILE");
  add_signer(revoke, options, false);
  revoke
      .add_option("--restart", options.restart,
                  "restarts the member of the endpoint that it is given")
      ->type_name("PROGRAM");

  CLI::App& forget = add_one(app, options, Command::forget, "forget",
                             "remove what stands of a node or a controller that is gone");
  forget.add_flag("--controller", options.is_controller, "it is a controller");
}

void add_joining(CLI::App& app, Options& options) {
  CLI::App& token = *app.add_subcommand("token", "what lets machines join the cell");
  token.require_subcommand(1);
  token.fallthrough();
  add_create(token, options);
  add(token, options, Command::token_list, "list", "every token, and what it still does");
  add(token, options, Command::token_revoke, "revoke", "let nobody in by it any longer")
      .add_option("TOKEN", options.subject, "as `list` shows it")
      ->type_name("")
      ->required();

  CLI::App& approve = add(app, options, Command::approve, "approve",
                          "let a machine in that waits; alone: show those that wait");
  CLI::Option* node = approve.add_option("NODE", options.node, "its name")
                          ->type_name("")
                          ->check(form(&fleet::is_id, "the name of a node"));
  approve.add_option("FINGERPRINT", options.fingerprint, "of its key, as the machine shows it")
      ->type_name("")
      ->needs(node);
  approve.callback([&options] {
    options.command = Command::approve;
    if (!options.node.empty() && options.fingerprint.empty())
      throw CLI::RequiredError("FINGERPRINT");
  });
}

}  // namespace fleetctl
