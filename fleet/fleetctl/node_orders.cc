// fleetctl command: gives one order to one node, and waits for the answer. The records of the order
// have a lease that ends after the time in --not-after. The store then erases the records, so that
// the node cannot begin the order later.
#include "fleet/common/identity.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/fleetctl/release_to_run.h"
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
  if (!options.downgrade) {
    const int newer = look_for_newer(asker, options.node, options.component, options.version);
    if (newer != exit_done) return newer;
  }
  ReleaseFound found;
  const int status = find_release(asker, options.component, options.version, found);
  command.version = options.version;
  command.digest = found.release.digest;
  command.downgrade = options.downgrade;
  return status;
}

// Writes the command and a claim on the node. As long as the claim exists, no rollout and no
// desired version changes the node. Both records have the same lease.
int send(const Options& options, Asker& asker, const fleet::Command& command, fleet::LeaseId id) {
  const std::string key = fleet::key_of(KeyKind::node_command, {options.node, options.component});
  const std::string claim = fleet::key_of(KeyKind::node_claim, {options.node, options.component});
  const fleet::Claim by{.by = "command/" + who_asks(options)};
  fleet::Transaction transaction{
      .compares = {{.key = key}, {.key = claim}, {.key = fleet::key_of(KeyKind::stop)}},
      .puts = {{key, fleet::write_record(command), id}, {claim, fleet::write_record(by), id}}};
  fleet::FleetEvent note =
      note_of(options, "node/" + options.node + "/command/" + options.component,
              std::string(fleet::text_of(command.action)) + " " + command.version);
  note.trace = command.trace;
  add_note(transaction, note);
  const fleet::Outcome outcome = asker.commit(transaction);
  if (std::holds_alternative<fleet::Committed>(outcome)) return exit_done;
  if (std::holds_alternative<fleet::Refused>(outcome)) {
    complain(options.node + ": something moves it already, or nothing may begin (fleetctl stop)");
    return exit_refused;
  }
  return not_committed(outcome);
}

// Returns whether the command is still in the store. If the command has been erased or replaced,
// and there is no answer, the node can no longer begin it, and its outcome stays unknown.
bool is_still_there(const fleet::Reading& reading, const std::string& key, const std::string& id) {
  const fleet::KeyValue* found = reading.find(key);
  const auto command = fleet::read_record<fleet::Command>(found == nullptr ? "{}" : found->value);
  return command && command.value().id == id;
}

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
    if (!is_still_there(std::get<fleet::Reading>(command), command_key, id)) {
      complain(options.node + ": it has not answered in time; fleetctl show says what runs");
      return exit_unknown;
    }
    asker.rest();
  }
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
  const auto lease = asker.lease(std::chrono::seconds(options.not_after_s));
  if (const auto* trouble = std::get_if<fleet::Trouble>(&lease)) return unreachable(*trouble);
  const fleet::LeaseId id = std::get<fleet::Lease>(lease).id;
  int status = send(options, asker, command, id);
  if (status == exit_done) {
    say(options.node + ": " + command.id);
    status = wait_for_answer(options, asker, command.id);
  }
  // The order has ended or was given up. End its lease, so that the store erases the records of
  // this order. Records that others have written since then have another lease, and stay.
  asker.end_lease(id);
  return status;
}

}  // namespace fleetctl
