#include "fleet/fleetctl/options.h"

#include "base/duration.h"
#include "base/version.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleetctl {

// ---- functions that the files option_*.cc use, too

CLI::Validator form(bool (*is_good)(std::string_view), const std::string& wanted) {
  const auto judge = [is_good, wanted](std::string& text) -> std::string {
    return is_good(text) ? "" : text + ": needs " + wanted;
  };
  return {judge, "", "form"};
}

CLI::App& add(CLI::App& parent, Options& options, Command command, const std::string& name,
              const std::string& about) {
  CLI::App& sub = *parent.add_subcommand(name, about);
  sub.fallthrough();
  sub.callback([&options, command] { options.command = command; });
  return sub;
}

void add_duration(CLI::App& app, const std::string& name, std::int64_t& value,
                  std::chrono::milliseconds unit, const std::string& about, bool required) {
  const auto take = [name, unit, &value](const std::string& text) {
    const auto duration = upgrader::parse_length(text);
    if (!duration) {
      throw CLI::ValidationError(name,
                                 text + ": needs a whole number and one of ms, s, m, h and d");
    }
    value = (*duration + unit - std::chrono::milliseconds{1}) / unit;
  };
  app.add_option_function<std::string>(name, take, about)->type_name("TIME")->required(required);
}

// ---- the command line

namespace {

void add_component(CLI::App& app, Options& options, bool required) {
  app.add_option("COMPONENT", options.component,
                 "name of the component; `agent` is fleet-agent itself")
      ->type_name("")
      ->required(required)
      ->check(form(&fleet::is_component, "the name of a component"));
}

void add_store(CLI::App& app, Options& options) {
  fleet::add_store_options(app, options.store, "your");
  app.get_option("--endpoint")->delimiter(',')->envname("FLEET_ENDPOINT");
  app.get_option("--ca")->envname("FLEET_CA");
  app.get_option("--cert")->envname("FLEET_CERT");
  app.get_option("--key")->envname("FLEET_KEY");
  app.add_flag("--json", options.json, "print JSON instead of text, for commands that only read");
}

void add_questions(CLI::App& app, Options& options) {
  add(app, options, &show_status, "status",
      "summarize the store, the nodes, the desired versions and the certificates");
  add(app, options, &show_nodes, "nodes",
      "list all nodes, with their versions and whether they report")
      .add_option("--target", options.target,
                  "list only the nodes that the target EXPR selects, see fleet(7)")
      ->type_name("EXPR");
  add(app, options, &show_node, "show", "show all records of one node")
      .add_option("NODE", options.node, "name of the node")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a node"));
  add(app, options, &show_versions, "versions", "show the number of nodes for each version");
}

void add_orders(CLI::App& app, Options& options) {
  CLI::App& desire =
      add(app, options, &fleetctl::desire, "desire",
          "set the version that a component should have on all nodes, or on one node");
  add_component(desire, options, true);
  CLI::Option* version = desire
                             .add_option("VERSION", options.version,
                                         "version of a published release; not with --remove")
                             ->type_name("")
                             ->check(form(&fleet::is_version_name, "a version"));
  desire.add_option("--node", options.node, "set the version only for the node ID")
      ->type_name("ID")
      ->check(form(&fleet::is_id, "the name of a node"));
  desire.add_flag("--ignore-window", options.ignore_window,
                  "begin also outside the windows of the nodes");
  desire.add_flag("--downgrade", options.downgrade,
                  "allow a version that is older than the running version");
  desire.add_option("--why", options.why, "reason to keep in the records")->type_name("TEXT");
  desire
      .add_flag("--remove", options.remove,
                "remove the desired version of all nodes, or that of the node of --node")
      ->excludes(version);

  CLI::App& stop =
      *app.add_subcommand("stop", "stop new upgrades in the whole cell, or allow them again");
  stop.require_subcommand(1);
  stop.fallthrough();
  const auto add_switch = [&](const std::string& name, const std::string& about, bool on) {
    CLI::App& one = *stop.add_subcommand(name, about);
    one.fallthrough();
    one.add_option("--why", options.why, "reason to keep in the records")->type_name("TEXT");
    one.callback([&options, on] {
      options.command = &halt;
      options.on = on;
    });
  };
  add_switch("on", "let no upgrade begin on any node", true);
  add_switch("off", "let upgrades begin again", false);
}

void add_releases(CLI::App& app, Options& options) {
  CLI::App& release = *app.add_subcommand("release", "publish or list releases");
  release.require_subcommand(1);
  release.fallthrough();
  CLI::App& publish = add(release, options, &fleetctl::publish, "publish",
                          "publish a release, so that nodes can be ordered to run the release");
  add_component(publish, options, true);
  publish
      .add_option("MANIFEST", options.manifests,
                  "manifest file, with its signature in MANIFEST.minisig")
      ->type_name("")
      ->required();
  publish
      .add_option("--url", options.url,
                  "URL of the directory where nodes find the manifests and the files")
      ->type_name("URL")
      ->required();
  publish.add_option("--channel", options.channel, "channel of the release, such as `production`")
      ->type_name("NAME");
  add_component(add(release, options, &list_releases, "list", "list all published releases"),
                options, false);
}

CLI::App& add_rollout_name(CLI::App& app, Options& options) {
  app.add_option("ROLLOUT", options.rollout, "name of the rollout")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a rollout"));
  return app;
}

void add_rollouts(CLI::App& app, Options& options) {
  CLI::App& rollout =
      *app.add_subcommand("rollout", "move many nodes to one version, batch by batch");
  rollout.require_subcommand(1);
  rollout.fallthrough();
  const auto add_start = [&](const std::string& name, const std::string& about) -> CLI::App& {
    CLI::App& start = add(rollout, options, &start_rollout, name, about);
    add_component(start, options, true);
    start.add_option("VERSION", options.version, "version of a published release")
        ->type_name("")
        ->required()
        ->check(form(&fleet::is_version_name, "a version"));
    start
        .add_option("--name", options.rollout,
                    "name of the rollout; by default, fleetctl chooses a name")
        ->type_name("NAME")
        ->check(form(&fleet::is_rollout_id,
                     "at most 40 small letters, digits, `.` and `-`, not `desired`, not `events`"));
    add_terms(start, options);
    return start;
  };
  add_start("start", "begin a rollout")
      .add_flag("--dry-run", options.dry_run, "show the rollout, and begin nothing");
  add_start("plan", "show the nodes and batches of a rollout, and begin nothing")
      .parse_complete_callback([&options] { options.dry_run = true; });
  add(rollout, options, &list_rollouts, "list", "list all rollouts, with their progress");
  add_rollout_name(add(rollout, options, &show_rollout, "show", "show one rollout, node by node"),
                   options);
  add_rollout_name(add(rollout, options, &watch_rollout, "watch",
                       "follow the progress of one rollout until its end"),
                   options);
  const auto order = [&](const std::string& name, const std::string& about,
                         fleet::RolloutWish wish) -> CLI::App& {
    CLI::App& one = *rollout.add_subcommand(name, about);
    one.fallthrough();
    one.callback([&options, wish] {
      options.command = &order_rollout;
      if (options.wish != fleet::RolloutWish::undo_now) options.wish = wish;
    });
    return add_rollout_name(one, options);
  };
  order("pause", "pause a rollout; a batch under way is still finished", fleet::RolloutWish::pause);
  order("resume", "continue a paused rollout", fleet::RolloutWish::resume);
  order("abort", "end a rollout; nodes not yet confirmed go back to the old version",
        fleet::RolloutWish::abort)
      .add_flag("--leave", options.leave,
                "order no node to go back; unconfirmed nodes still go back by themselves");
  order("undo", "bring nodes that kept the new version back to their previous versions",
        fleet::RolloutWish::undo)
      .add_flag_callback(
          "--now", [&options] { options.wish = fleet::RolloutWish::undo_now; },
          "take all nodes of all batches back at the same time");
}

void add_why(CLI::App& app, Options& options) {
  CLI::App& why = add(app, options, &show_why, "why",
                      "show why nodes of a rollout failed, and group similar failures");
  add_rollout_name(why, options)
      .add_option("NODE", options.node, "name of a node, to show only the failure of this node")
      ->type_name("")
      ->check(form(&fleet::is_id, "the name of a node"));
}

void add_document(CLI::App& app, Options& options) {
  CLI::App& apply =
      add(app, options, &fleetctl::apply, "apply", "change the cell to what a document says");
  apply.add_option("FILE", options.file, "JSON file of the document; `-` means standard input")
      ->type_name("")
      ->required();
  apply.add_flag("--diff", options.diff, "show what would change, and change nothing");
}

void add_history(CLI::App& app, Options& options) {
  CLI::App& events =
      add(app, options, &show_events, "events", "show the history of the cell, oldest event first");
  events.add_option("--who", options.who, "show only orders of the person NAME")->type_name("NAME");
  events
      .add_option("--subject", options.subject,
                  "show only events about the record KEY, such as node/n1 or rollout/r1")
      ->type_name("KEY");
  const auto add_limit = [&options](CLI::App& one, const std::string& about) {
    constexpr std::int64_t limit_max = 1'000'000;
    one.add_option("--limit", options.limit, about)
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, limit_max).description(""));
  };
  add_limit(events, "show only the last N events");
  add_limit(
      add(app, options, &show_history, "history", "list the rollouts and plans that have ended"),
      "show only the last N rollouts and plans");
}

void add_settings(CLI::App& app, Options& options) {
  CLI::App& settings = *app.add_subcommand("settings", "show or change the settings of the cell");
  settings.require_subcommand(1);
  settings.fallthrough();
  const auto add_name = [&options](CLI::App& one) -> CLI::App& {
    one.add_option("NAME", options.setting, "name of the setting, see fleet(7)")
        ->type_name("")
        ->required();
    return one;
  };
  add(settings, options, &list_settings, "list", "list the settings of the cell");
  add_name(add(settings, options, &set_setting, "set", "change a setting"))
      .add_option("VALUE", options.value, "new value of the setting")
      ->type_name("")
      ->required();
  add_name(add(settings, options, &unset_setting, "unset", "restore the default of a setting"));
}

// Returns the word in the place of a command or subcommand, such as `foo` in `fleetctl rollout
// foo`, or an empty string if there is none.
std::string unknown_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty())
    last = last->get_subcommands().front();
  if (last->get_require_subcommand_min() == 0) return "";
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with('-')) return word;
  }
  return "";
}

}  // namespace

std::variant<Options, fleet::Text> options_from(int argc, char** argv) {
  Options options;
  CLI::App app("show the state of a fleet, and order its upgrades", "fleetctl");
  fleet::add_help_options(app, std::string("fleetctl ") + upgrader::upgrader_version);
  app.require_subcommand(1);
  add_store(app, options);
  add_cells(app, options);
  add_questions(app, options);
  add_orders(app, options);
  add_releases(app, options);
  add_enrolment(app, options);
  add_joining(app, options);
  add_rollouts(app, options);
  add_why(app, options);
  add_plans(app, options);
  add_windows(app, options);
  add_node_orders(app, options);
  add_document(app, options);
  add_history(app, options);
  add_settings(app, options);
  try {
    fleet::parse(app, argc, argv);
    if (std::holds_alternative<StoreCommand>(options.command) && options.store.endpoints.empty())
      throw CLI::RequiredError("--endpoint, or FLEET_ENDPOINT,");
  } catch (const CLI::Error& error) {
    const std::string word = error.get_exit_code() == 0 ? "" : unknown_command(app);
    if (!word.empty())
      return fleet::Text{"fleetctl: there is no command `" + word + "`; see --help\n", exit_usage};
    return fleet::text_for(app, error, exit_usage);
  }
  return options;
}

}  // namespace fleetctl
