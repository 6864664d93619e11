// Implements `fleetctl command`, which gives one order to one node and waits for the answer. The
// order's records have a lease with the length of --not-after. When it ends, the store erases them,
// so that the node cannot begin the order later. A signal that stops fleetctl ends the lease, too.
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// Returns whether the command is still in the store. If the command is gone without an answer, the
// node cannot begin it any more, but may have begun it before.
bool is_still_there(const fleet::Reading& reading, const std::string& key, const std::string& id) {
  const fleet::KeyValue* found = reading.find(key);
  const auto command = fleet::read_record<fleet::Command>(found == nullptr ? "{}" : found->value);
  return command && command.value().id == id;
}

// Returns the exit status of the answer, or no value if a signal has stopped fleetctl.
std::optional<int> wait_for_answer(const Options& options, Asker& asker, const std::string& id) {
  const std::string answer_key =
      fleet::key_of(KeyKind::node_answer, {options.node, options.component});
  const std::string command_key =
      fleet::key_of(KeyKind::node_command, {options.node, options.component});
  for (;;) {
    const auto command = asker.read({command_key});
    const auto reply = asker.read({answer_key});
    for (const auto* one : {&command, &reply}) {
      const auto* trouble = std::get_if<fleet::Trouble>(one);
      if (trouble != nullptr && asker.stop() != 0) return std::nullopt;
      if (trouble != nullptr) return unreachable(*trouble);
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
      return fail(options.node + ": it has not answered in time; fleetctl show says what runs",
                  exit_unknown);
    }
    if (asker.stop() != 0) return std::nullopt;
    asker.rest();
  }
}

// Ends the lease of the order, for which fleetctl waits no longer, so that the store erases the
// order's records. Records that somebody else has written since have no such lease, and stay. If no
// answer has come, as the exit status shows, says whether the order is taken back.
void take_back(const Options& options, Asker& asker, fleet::LeaseId lease,
               const std::optional<int>& status) {
  const auto trouble = asker.end_lease(lease);
  if (status && *status != exit_unreachable) return;
  const std::string holds = "cannot be taken back, and holds for at most " +
                            std::to_string(options.not_after_s) + " seconds";
  complain(options.node + ": the order " +
           (trouble ? holds + " (" + trouble->reason + ")" : "is taken back") + "; fleetctl show " +
           options.node + " says whether the node has begun it");
}

}  // namespace

int order_node(const Options& options, Asker& asker) {
  if (options.action != "reboot" && options.version.empty()) {
    return fail("a VERSION is needed", exit_usage);
  }
  fleet::JsonTree body = fleet::json_object();
  body.members["action"] = fleet::json_text(options.action);
  if (!options.version.empty()) body.members["version"] = fleet::json_text(options.version);
  body.members["not_after_ms"] = fleet::json_number(1'000 * options.not_after_s);
  body.members["downgrade"] = fleet::json_truth(options.downgrade);
  asker.hold_stops();
  const Placed placed = place(options, asker,
                              {.subject = "node/" + options.node + "/command/" + options.component,
                               .body = write_tree(body)});
  std::optional<int> status = say_refused(placed);
  if (status == exit_done) {
    const auto shown = fleet::parse_tree(placed.taken.shown);
    const std::string id = shown ? shown.value().text_of("id") : "";
    say(options.node + ": " + id);
    status = wait_for_answer(options, asker, id);
  }
  if (placed.lease != 0) take_back(options, asker, placed.lease, status);
  return status ? *status : signal_exit_base + asker.stop();
}

}  // namespace fleetctl
