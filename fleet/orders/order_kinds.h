// Functions that decide whether a person's order is accepted and, if it is, what is written to the
// store. Each kind of record has a function of its own: set_record() is for the records that people
// set themselves, and the other functions are for commands, plans and rollouts. They are in
// set_record.cc, command_order.cc, plan_order.cc and rollout_order.cc; orders.cc chooses among
// them. None of them does input or output.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

// ---- records that people set, such as a window: checks the record, and fills in the members that
// the person has left out

// Returns the keys that must be read before set_record() is called. For a desired version, these
// are the keys of the release and of the nodes.
[[nodiscard]] std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body);

struct RecordSet {
  std::string record = {};
  std::string words = {};  // the order as a message, for the event in the history
  // Conditions for the transaction: the records from which the decision was made must be unchanged.
  std::vector<Compare> compares = {};
};

// Returns the record to be stored. `body` is the whole new record. `before` is the existing record,
// or null if there is none.
[[nodiscard]] agent_protocol::Result<RecordSet> set_record(const ParsedKey& key,
                                                           const JsonTree& body,
                                                           const JsonTree& before,
                                                           const Reading& reading,
                                                           const Orderer& orderer);

// Returns a note for the person if the document only repeats a desired version, and the existing
// record `found` says that this version is refused. Returns an empty string otherwise. `wanted` is
// the record that the document would write. If there is a note, the existing record must stay as it
// is: a program may apply a document again and again, but only a person may lift the refusal.
[[nodiscard]] std::string why_stays_refused(const ParsedKey& key, const std::string& found,
                                            const std::string& wanted);

struct PublishedRelease {
  Release release = {};
  Revision revision = 0;  // the revision of the release's record
};

// Returns the release with this version. Returns a Refusal if the release is not published or its
// record is damaged.
[[nodiscard]] agent_protocol::Result<PublishedRelease> published_release(
    const Reading& reading, const std::string& component, const std::string& version);

// Returns an error message if some of `nodes` run a newer version than `version`, or no value if no
// node does.
[[nodiscard]] std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                                           const std::string& component,
                                                           const std::string& version);

// ---- a command to one node, such as `node/n1/command/agent`. The records of a command have a
// lease, so that the store erases them when the node may no longer begin the command

[[nodiscard]] std::vector<std::string> needs_of_command(const Order& order, const ParsedKey& key);

// Decides about the command. The order's body has the command's member `action`, and optionally
// `version`, `reason`, `downgrade` and `not_after_ms`. Refuses the order while a rollout or an
// earlier command moves the component on this node (the record `claim` says so), since nothing else
// may change the component then.
[[nodiscard]] OrderDecision decide_command_order(const Order& order, const ParsedKey& key,
                                                 const Reading& reading, const Orderer& orderer);

// ---- an order to begin a plan, or to recover it, which erases the records of its last run

[[nodiscard]] std::vector<std::string> needs_of_plan(const Order& order, const std::string& name);
[[nodiscard]] OrderDecision decide_plan_order(const Order& order, const std::string& name,
                                              const Reading& reading, const Orderer& orderer);

// ---- an order to begin, pause, resume, abort or undo a rollout

[[nodiscard]] std::vector<std::string> needs_of_rollout(const Order& order, const std::string& id);

// Decides about an order. `found` is the rollout's record, or null if the rollout does not exist.
[[nodiscard]] OrderDecision decide_rollout_order(const Order& order, const std::string& id,
                                                 const KeyValue* found, const Reading& reading,
                                                 const Orderer& orderer);

}  // namespace fleet
