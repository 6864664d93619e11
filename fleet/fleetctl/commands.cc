#include "fleet/fleetctl/commands.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fleet/agent/identity.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/one_record.h"
#include "fleet/fleetctl/release_found.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

using fleet::KeyKind;

int perform(const Options& options) {
  Asker asker(options);
  switch (options.command) {
    case Command::status:
      return show_status(options, asker);
    case Command::nodes:
      return show_nodes(options, asker);
    case Command::show:
      return show_node(options, asker);
    case Command::versions:
      return show_versions(options, asker);
    case Command::desire:
      return desire(options, asker);
    case Command::stop:
      return halt(options, asker);
    case Command::publish:
      return publish(options, asker);
    case Command::releases:
      return list_releases(options, asker);
    case Command::enrol:
    case Command::renew:
    case Command::revoke:
    case Command::forget:
      return decide_who_is_in(options, asker);
    case Command::rollout_start:
      return start_rollout(options, asker);
    case Command::rollout_list:
      return list_rollouts(options, asker);
    case Command::rollout_show:
      return show_rollout(options, asker);
    case Command::rollout_watch:
      return watch_rollout(options, asker);
    case Command::rollout_order:
      return order_rollout(options, asker);
    case Command::plan_run:
      return run_plan(options, asker);
    case Command::plan_list:
      return list_plans(options, asker);
    case Command::plan_show:
      return show_plan(options, asker);
    case Command::plan_recover:
      return recover_plan(options, asker);
    case Command::window_set:
    case Command::window_list:
    case Command::window_remove:
      return look_after_windows(options, asker);
    case Command::node_command:
      return order_node(options, asker);
    case Command::restored:
    case Command::accept_epoch:
      return change_epoch(options, asker);
    case Command::events:
      return show_events(options, asker);
    case Command::settings_list:
    case Command::settings_set:
    case Command::settings_unset:
      return look_at_settings(options, asker);
  }
  return exit_usage;
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
}

void say_all(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    say(line);
  }
}

std::string who_asks() {
  const char* user = std::getenv("USER");
  return user == nullptr ? std::to_string(::getuid()) : user;
}

void complain(const std::string& line) {
  std::fprintf(stderr, "fleetctl: %s\n", line.c_str());
}

int unreachable(const fleet::Trouble& trouble) {
  switch (trouble.kind) {
    case fleet::Trouble::Kind::denied:
      complain(trouble.reason);
      return exit_refused;
    case fleet::Trouble::Kind::unreachable:
      break;
  }
  complain("the store cannot be reached: " + trouble.reason);
  return exit_unreachable;
}

namespace {

int look_for(Asker& asker, const std::string& key, const std::string& record,
             const std::string& why) {
  const auto reply = asker.read({key});
  if (std::holds_alternative<fleet::Trouble>(reply)) {
    complain("it cannot be known whether it was written: " + why);
    return exit_unknown;
  }
  const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(key);
  if (found != nullptr && found->value == record) return exit_done;
  complain("it was not written when it was looked for, and may be still: " + why);
  return exit_unknown;
}

}  // namespace

int write(Asker& asker, const std::string& key, const std::string& record, fleet::Revision read) {
  const fleet::Outcome outcome = asker.commit(
      {.compares = {fleet::Compare{.key = key, .revision = read}}, .puts = {{key, record}}});
  if (std::holds_alternative<fleet::Committed>(outcome)) return exit_done;
  if (const auto* unknown = std::get_if<fleet::Unknown>(&outcome))
    return look_for(asker, key, record, unknown->reason);
  if (const auto* denied = std::get_if<fleet::Denied>(&outcome)) {
    complain(denied->reason);
    return exit_refused;
  }
  complain("somebody else has written it at this moment; look, and try again");
  return exit_refused;
}

int commit(Asker& asker, const fleet::Transaction& transaction, const std::string& words_if_done) {
  const fleet::Outcome outcome = asker.commit(transaction);
  if (std::holds_alternative<fleet::Committed>(outcome)) {
    say(words_if_done);
    return exit_done;
  }
  complain(words(outcome));
  return std::holds_alternative<fleet::Unknown>(outcome) ? exit_unknown : exit_refused;
}

int desire(const Options& options, Asker& asker) {
  ReleaseFound found;
  const int found_status = find_release(asker, options.component, options.version, found);
  if (found_status != exit_done) return found_status;
  const std::string key =
      options.node.empty()
          ? fleet::key_of(KeyKind::desired, {options.component})
          : fleet::key_of(KeyKind::node_desired, {options.node, options.component});
  OneRecord<fleet::Desired> before;
  if (const int status = read_one(asker, key, before); status != exit_done) return status;
  const fleet::Desired wish{.version = options.version,
                            .digest = found.release.digest,
                            .why = options.why,
                            .pinned = !options.node.empty(),
                            .downgrade = options.downgrade,
                            .ignore_window = options.ignore_window,
                            .trace = fleet::new_instance_id().substr(0, 8)};
  const int status = write(asker, key, fleet::write_record(wish), before.revision);
  if (status != exit_done) return status;
  say(options.component + " " + options.version + " is desired" +
      (options.node.empty() ? "" : " of " + options.node) + " (trace " + wish.trace + ")");
  return exit_done;
}

int halt(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::stop);
  OneRecord<fleet::Stop> there;
  if (const int status = read_one(asker, key, there); status != exit_done) return status;
  if (options.on == (there.revision != 0)) {
    say(options.on ? "nothing begins, as before" : "everything may begin, as before");
    return exit_done;
  }
  if (options.on) {
    const fleet::Stop stop{.who = who_asks(), .why = options.why, .since = fleet::time_text()};
    const int status = write(asker, key, fleet::write_record(stop), 0);
    if (status == exit_done) say("nothing begins from now on; confirmations and roll-backs go on");
    return status;
  }
  return commit(asker, {.erases = {fleet::Erase{key}}}, "everything may begin again");
}

}  // namespace fleetctl
