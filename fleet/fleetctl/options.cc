#include "fleet/fleetctl/options.h"

#include "base/duration.h"
#include "base/version.h"
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/keys.h"
#include "fleet/model/rollout_draft.h"

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

void add_component(CLI::App& app, Options& options, bool required) {
  app.add_option("COMPONENT", options.component, "`agent`, or another component")
      ->type_name("")
      ->required(required)
      ->check(form(&fleet::is_component, "the name of a component"));
}

// ---- the command line

namespace {

void add_store(CLI::App& app, Options& options) {
  fleet::add_store_options(app, options.store, "your");
  app.get_option("--endpoint")->delimiter(',')->envname("FLEET_ENDPOINT");
  app.get_option("--ca")->envname("FLEET_CA");
  app.get_option("--cert")->envname("FLEET_CERT");
  app.get_option("--key")->envname("FLEET_KEY");
  app.add_flag("--json", options.json, "the records as they are, instead of a table");
}

void add_questions(CLI::App& app, Options& options) {
  add(app, options, Command::status, "status", "the store's members, and the cell at a glance");
  add(app, options, Command::nodes, "nodes", "every node: whether it reports, and what runs on it")
      .add_option("--target", options.target, "only these, as fleet(7) has it")
      ->type_name("EXPR");
  add(app, options, Command::show, "show", "all that is known of one node")
      .add_option("NODE", options.node, "its name")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a node"));
  add(app, options, Command::versions, "versions", "how many nodes run what");
}

void add_orders(CLI::App& app, Options& options) {
  CLI::App& desire =
      add(app, options, Command::desire, "desire", "what a component should run everywhere");
  add_component(desire, options, true);
  desire.add_option("VERSION", options.version, "of a release that is published")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_version_name, "a version"));
  desire.add_option("--node", options.node, "on this node alone")
      ->type_name("ID")
      ->check(form(&fleet::is_id, "the name of a node"));
  desire.add_flag("--ignore-window", options.ignore_window, "begin at any time");
  desire.add_flag("--downgrade", options.downgrade, "also to an older version");
  desire.add_option("--why", options.why, "for the records")->type_name("TEXT");

  CLI::App& stop = *app.add_subcommand("stop", "let nothing begin anywhere, or let it again");
  stop.require_subcommand(1);
  stop.fallthrough();
  const auto halt = [&](const std::string& name, const std::string& about, bool on) {
    CLI::App& one = *stop.add_subcommand(name, about);
    one.fallthrough();
    one.add_option("--why", options.why, "for the records")->type_name("TEXT");
    one.callback([&options, on] {
      options.command = Command::stop;
      options.on = on;
    });
  };
  halt("on", "nothing begins", true);
  halt("off", "as usual", false);
}

void add_releases(CLI::App& app, Options& options) {
  CLI::App& release = *app.add_subcommand("release", "what there is to run");
  release.require_subcommand(1);
  release.fallthrough();
  CLI::App& publish = add(release, options, Command::publish, "publish",
                          "make a release known, before anybody is told to run it");
  add_component(publish, options, true);
  publish.add_option("MANIFEST", options.manifests, "files, their signatures beside them")
      ->type_name("")
      ->required();
  publish.add_option("--url", options.url, "where nodes find the manifests: a directory")
      ->type_name("URL")
      ->required();
  publish.add_option("--channel", options.channel, "for release watches")->type_name("NAME");
  add_component(add(release, options, Command::releases, "list", "every release that is published"),
                options, false);
}

CLI::App& add_rollout_name(CLI::App& app, Options& options) {
  app.add_option("ROLLOUT", options.rollout, "its name")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a rollout"));
  return app;
}

void add_rollouts(CLI::App& app, Options& options) {
  CLI::App& rollout = *app.add_subcommand("rollout", "one version on many nodes, batch by batch");
  rollout.require_subcommand(1);
  rollout.fallthrough();
  const auto add_start = [&](const std::string& name, const std::string& about) -> CLI::App& {
    CLI::App& start = add(rollout, options, Command::rollout_start, name, about);
    add_component(start, options, true);
    start.add_option("VERSION", options.version, "of a release that is published")
        ->type_name("")
        ->required()
        ->check(form(&fleet::is_version_name, "a version"));
    start.add_option("--name", options.rollout, "of the rollout; otherwise it is given one")
        ->type_name("NAME")
        ->check(form(&fleet::is_rollout_id,
                     "at most 40 small letters, digits, `.` and `-`, not `desired`, not `events`"));
    add_terms(start, options);
    return start;
  };
  add_start("start", "begin one").add_flag("--dry-run", options.dry_run, "show it, begin nothing");
  add_start("plan", "show what `start` would do").parse_complete_callback([&options] {
    options.dry_run = true;
  });
  add(rollout, options, Command::rollout_list, "list", "every rollout, and how far it is");
  add_rollout_name(
      add(rollout, options, Command::rollout_show, "show", "one rollout, node by node"), options);
  add_rollout_name(
      add(rollout, options, Command::rollout_watch, "watch", "one rollout, until it has ended"),
      options);
  const auto order = [&](const std::string& name, const std::string& about,
                         fleet::RolloutWish wish) -> CLI::App& {
    CLI::App& one = *rollout.add_subcommand(name, about);
    one.fallthrough();
    one.callback([&options, wish] {
      options.command = Command::rollout_order;
      if (options.wish != fleet::RolloutWish::undo_now) options.wish = wish;
    });
    return add_rollout_name(one, options);
  };
  order("pause", "begin no other batch", fleet::RolloutWish::pause);
  order("resume", "go on", fleet::RolloutWish::resume);
  order("abort", "end it: what is not confirmed yet goes back", fleet::RolloutWish::abort)
      .add_flag("--leave", options.leave, "nothing is told to go back");
  order("undo", "take back what has kept the version", fleet::RolloutWish::undo)
      .add_flag_callback(
          "--now", [&options] { options.wish = fleet::RolloutWish::undo_now; },
          "all batches at once");
}

void add_why(CLI::App& app, Options& options) {
  CLI::App& why =
      add(app, options, Command::why, "why",
          "why nodes of a rollout failed: failures that are alike once, with their count");
  add_rollout_name(why, options)
      .add_option("NODE", options.node, "this node alone")
      ->type_name("")
      ->check(form(&fleet::is_id, "the name of a node"));
}

void add_document(CLI::App& app, Options& options) {
  CLI::App& apply =
      add(app, options, Command::apply, "apply", "make the cell what a document says");
  apply.add_option("FILE", options.file, "the document; - for standard input")
      ->type_name("")
      ->required();
  apply.add_flag("--diff", options.diff, "show what would change, and change nothing");
}

void add_history(CLI::App& app, Options& options) {
  CLI::App& events =
      add(app, options, Command::events, "events", "what has happened, in its order");
  events.add_option("--who", options.who, "only what this person has ordered")->type_name("NAME");
  events.add_option("--subject", options.subject, "only of this: node/n1, rollout/r1")
      ->type_name("KEY");
  events.add_option("--limit", options.limit, "the last so many")->type_name("N");
  add(app, options, Command::history, "history", "rollouts and plans that have ended")
      .add_option("--limit", options.limit, "the last so many")
      ->type_name("N");
}

void add_settings(CLI::App& app, Options& options) {
  CLI::App& settings = *app.add_subcommand("settings", "what the cell is set to");
  settings.require_subcommand(1);
  settings.fallthrough();
  const auto add_name = [&options](CLI::App& one) -> CLI::App& {
    one.add_option("NAME", options.setting, "as fleet(7) has it")->type_name("")->required();
    return one;
  };
  add(settings, options, Command::settings_list, "list", "what is set");
  add_name(add(settings, options, Command::settings_set, "set", "set one"))
      .add_option("VALUE", options.value, "what it shall be")
      ->type_name("")
      ->required();
  add_name(add(settings, options, Command::settings_unset, "unset", "as if it had not been set"));
}

// Returns the first word that is in the place of a command but is not a command. Returns an empty
// string if there is no such word.
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

std::variant<Options, Text> options_from(int argc, char** argv) {
  Options options;
  CLI::App app("what can be asked of a fleet, and ordered", "fleetctl");
  const std::string version = std::string("fleetctl ") + upgrader::upgrader_version + "\n";
  app.set_version_flag("--version", version);
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
    app.parse(argc, argv);
    if (asks_store(options.command) && options.store.endpoints.empty())
      throw CLI::RequiredError("--endpoint, or FLEET_ENDPOINT,");
  } catch (const CLI::CallForVersion&) {
    return Text{version, exit_done};
  } catch (const CLI::Success&) {
    const auto chosen = app.get_subcommands();
    return Text{chosen.empty() ? app.help() : chosen.front()->help(), exit_done};
  } catch (const CLI::ParseError& error) {
    if (const std::string word = unknown_command(app); !word.empty())
      return Text{"fleetctl: there is no command `" + word + "`; see --help\n", exit_usage};
    return Text{std::string("fleetctl: ") + error.what() + "; see --help\n", exit_usage};
  }
  return options;
}

}  // namespace fleetctl
