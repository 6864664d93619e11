// Implements `fleetctl command`, which gives one order to one node and waits for the answer. The
// order's records have a lease with the length of --not-after. When it ends, the store erases them,
// so that the node cannot begin the order later.
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
      return fail(options.node + ": it has not answered in time; fleetctl show says what runs",
                  exit_unknown);
    }
    asker.rest();
  }
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
  const Placed placed = place(options, asker,
                              {.subject = "node/" + options.node + "/command/" + options.component,
                               .body = write_tree(body)});
  int status = say_refused(placed);
  if (status == exit_done) {
    const auto shown = fleet::parse_tree(placed.taken.shown);
    const std::string id = shown ? shown.value().text_of("id") : "";
    say(options.node + ": " + id);
    status = wait_for_answer(options, asker, id);
  }
  // fleetctl does not wait for this order any more. End the lease, so that the store erases the
  // order's records. Records that somebody else has written since have no such lease, and stay.
  if (placed.lease != 0) asker.end_lease(placed.lease);
  return status;
}

}  // namespace fleetctl
