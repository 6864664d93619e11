// fleetctl approve: shows the machines that wait for approval, and lets one of them join.
#include "fleet/common/identity.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/one_record.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/fleetctl/table.h"
#include "fleet/model/joining.h"
#include "fleet/model/keys.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

int list_waiting(const Options& options, Asker& asker) {
  const auto reply = read_keys(
      asker, {fleet::prefix_of(KeyKind::join), fleet::prefix_of(KeyKind::identity) + "node/"});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  std::vector<upgraderctl::Row> rows{{"NODE", "FINGERPRINT", "SINCE", "TOKEN", "NAME"}};
  fleet::Reading waiting{.revision = reading.revision};
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::join) continue;
    const auto read = fleet::read_record<fleet::JoinRequest>(found.value);
    if (!read || !read.value().refused.empty()) continue;
    waiting.found.push_back(found);
    const fleet::JoinRequest& one = read.value();
    const auto owner = fleet::key_if(KeyKind::identity, {fleet::node_kind, one.node});
    const bool is_there = owner && reading.find(*owner) != nullptr;
    rows.push_back({one.node, key->names.front(), fleet::time_text_of(one.asked),
                    fleet::token_id(one.token), is_there ? "exists with another key" : "is new"});
  }
  if (options.json) {
    say_json(as_json(waiting));
  } else {
    say_all(table(rows));
  }
  return exit_done;
}

}  // namespace

int approve(const Options& options, Asker& asker) {
  if (options.node.empty()) return list_waiting(options, asker);
  const std::string none = options.node + ": no machine with this fingerprint waits for that name";
  const auto key = fleet::key_if(KeyKind::join, {options.fingerprint});
  if (!key) return refuse(none);
  OneRecord<fleet::JoinRequest> there;
  if (const int status = read_one(asker, *key, there); status != exit_done) return status;
  if (!there.record || there.record->node != options.node) return refuse(none);
  if (!there.record->refused.empty())
    return refuse(options.node + " was refused: " + there.record->refused);
  const fleet::Approval approval{
      .node = options.node, .who = who_asks(options), .time = fleet::time_text()};
  const std::string key_of_approval = fleet::key_of(KeyKind::approval, {options.fingerprint});
  fleet::Transaction transaction{.compares = {{.key = *key, .revision = there.revision}},
                                 .puts = {{key_of_approval, fleet::write_record(approval)}}};
  add_note(transaction, note_of(options, "identity/node/" + options.node,
                                "is approved with the key " + options.fingerprint));
  return commit(asker, transaction,
                options.node + " is approved; it joins as soon as fleet-signer has signed");
}

}  // namespace fleetctl
