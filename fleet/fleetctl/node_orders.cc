// fleetctl command: one order to one node, on a lease that is its not-after, and its answer.
#include "fleet/agent/identity.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/release_found.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/ids.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {
namespace {

using fleet::CommandAction;
using fleet::KeyKind;

int fill(const Options& options, Asker& asker, fleet::Command& command) {
  if (options.action == CommandAction::reboot) return exit_done;
  if (options.version.empty()) {
    complain("a VERSION is needed");
    return exit_usage;
  }
  ReleaseFound found;
  const int status = find_release(asker, options.component, options.version, found);
  command.version = options.version;
  command.digest = found.release.digest;
  command.downgrade = options.downgrade;
  return status;
}

// Nobody else moves the node meanwhile: its claim stands on the same lease.
int send(const Options& options, Asker& asker, const fleet::Command& command) {
  const auto lease = asker.lease(std::chrono::seconds(options.not_after_s));
  if (const auto* trouble = std::get_if<fleet::Trouble>(&lease)) return unreachable(*trouble);
  const fleet::LeaseId id = std::get<fleet::Lease>(lease).id;
  const std::string key = fleet::key_of(KeyKind::node_command, {options.node, options.component});
  const std::string claim = fleet::key_of(KeyKind::node_claim, {options.node, options.component});
  const fleet::Outcome outcome = asker.commit(
      {.compares = {{.key = key}, {.key = claim}, {.key = fleet::key_of(KeyKind::stop)}},
       .puts = {
           {key, fleet::write_record(command), id},
           {claim, fleet::write_record(fleet::Claim{.by = "command/" + who_asks(options)}), id}}});
  if (std::holds_alternative<fleet::Committed>(outcome)) return exit_done;
  if (std::holds_alternative<fleet::Refused>(outcome)) {
    complain(options.node + ": something moves it already, or nothing may begin (fleetctl stop)");
    return exit_refused;
  }
  return not_committed(outcome);
}

// When the command is gone without an answer its time is over, and nobody can tell what came of it.
int wait_for_answer(const Options& options, Asker& asker, const std::string& id) {
  const std::string answer_key =
      fleet::key_of(KeyKind::node_answer, {options.node, options.component});
  const std::string command_key =
      fleet::key_of(KeyKind::node_command, {options.node, options.component});
  for (;;) {
    const auto command = asker.read({command_key});
    const auto reply = asker.read({answer_key});
    for (const auto* one : {&command, &reply}) {
      if (const auto* trouble = std::get_if<fleet::Trouble>(one)) return unreachable(*trouble);
    }
    const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(answer_key);
    const auto answer = fleet::read_record<fleet::Answer>(found == nullptr ? "{}" : found->value);
    if (answer && answer.value().command == id) {
      const std::string& result = answer.value().result;
      say(options.node + ": " + result);
      if (result == fleet::result_interrupted) return exit_unknown;
      return result == fleet::result_done || result == fleet::result_reboot_required ? exit_done
                                                                                     : exit_failed;
    }
    if (std::get<fleet::Reading>(command).found.empty()) {
      complain(options.node + ": it has not answered in time; fleetctl show says what runs");
      return exit_unknown;
    }
    asker.rest();
  }
}

// What was answered, or not, is over: nobody is to find the order later.
void take_back(const Options& options, Asker& asker) {
  static_cast<void>(asker.commit(
      {.erases = {{fleet::key_of(KeyKind::node_command, {options.node, options.component})},
                  {fleet::key_of(KeyKind::node_claim, {options.node, options.component})}}}));
}

}  // namespace

int order_node(const Options& options, Asker& asker) {
  const std::string trace = "c-" + fleet::new_instance_id().substr(0, 8);
  fleet::Command command{.id = trace + "." + std::string(fleet::text_of(options.action)) + ".1",
                         .action = options.action,
                         .not_after_ms = 1'000 * options.not_after_s,
                         .reason = options.why,
                         .trace = trace};
  if (const int status = fill(options, asker, command); status != exit_done) return status;
  if (const int status = send(options, asker, command); status != exit_done) return status;
  say(options.node + ": " + command.id);
  const int status = wait_for_answer(options, asker, command.id);
  take_back(options, asker);
  return status;
}

}  // namespace fleetctl
