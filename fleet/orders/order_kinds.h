// Functions that decide whether a person's order is accepted, and what is then written to the
// store. set_record() decides about records that people set themselves, such as a window. Other
// functions decide about commands, plans and rollouts. orders.cc calls these functions, which are
// in set_record.cc, command_order.cc, plan_order.cc and rollout_order.cc. They do no input or
// output.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

// The records that were read for orders, and the nodes in these records. The nodes are parsed when
// an order first needs them, and only once, since a document may have many orders, and a cell
// thousands of nodes. The records must exist as long as this object.
class CellFacts {
 public:
  explicit CellFacts(const Reading& reading) : reading_(reading) {}

  [[nodiscard]] const Reading& reading() const { return reading_; }
  [[nodiscard]] const std::vector<NodeView>& nodes() const;

 private:
  const Reading& reading_;
  mutable std::optional<std::vector<NodeView>> nodes_ = {};
};

// Decides about an order, like the function of this name in order.h.
[[nodiscard]] OrderDecision decide_order(const Order& order, const CellFacts& facts,
                                         const Orderer& orderer);

// ---- records that people set, such as a window

// Returns the keys that must be read before set_record() is called for the record `key`.
[[nodiscard]] std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body);

struct RecordSet {
  std::string record = {};  // the record to be stored
  std::string words = {};   // the order as a message, for the event in the history
  // The conditions for the transaction that stores the record.
  std::vector<Compare> compares = {};
};

// Checks the record `body` that a person has written, and returns the record to be stored. `before`
// is the existing record, or null if there is none. Returns a Refusal if the person's record is
// wrong.
[[nodiscard]] agent_protocol::Result<RecordSet> set_record(const ParsedKey& key,
                                                           const JsonTree& body,
                                                           const JsonTree& before,
                                                           const CellFacts& facts,
                                                           const Orderer& orderer);

// These members say who wrote a record, when, by which order (`trace`), and in which format (`v`).
// Programs write them, not people.
inline constexpr auto signatures = std::to_array<const char*>({"v", "who", "trace", "since"});

// Returns the reason to refuse a person's JSON that has a member with the unknown name `name`. The
// reason also names the known members, so that the person finds the right name.
[[nodiscard]] std::string no_member(std::string_view name, const std::vector<std::string>& known);

// Returns a note for the person if a document may not write the desired version `wanted` over
// `found`, and otherwise an empty string. It may not if both name the same version, and `found` is
// marked as refused, so that no node moves to it. A program may apply a document again and again,
// but only a person may end the refusal.
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

// Returns an error message if one of the nodes runs a newer version than `version`, and otherwise
// no value.
[[nodiscard]] std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                                           const std::string& component,
                                                           const std::string& version);

// ---- a command to one node, such as `node/n1/command/agent`

[[nodiscard]] std::vector<std::string> needs_of_command(const Order& order, const ParsedKey& key);

// Decides about an order to send a command. The order's body has the command's member `action`, and
// optionally `version`, `reason`, `downgrade` and `not_after_ms`. The order is refused while the
// node has another command, or a claim: a claim is the record of a rollout or command that changes
// this component of the node. The new records have a lease, so that the store erases them when the
// node may not begin the command any more.
[[nodiscard]] OrderDecision decide_command_order(const Order& order, const ParsedKey& key,
                                                 const Reading& reading, const Orderer& orderer);

// ---- an order to begin a plan, or to recover it (to erase the records of its last run)

[[nodiscard]] std::vector<std::string> needs_of_plan(const Order& order, const std::string& name);
[[nodiscard]] OrderDecision decide_plan_order(const Order& order, const std::string& name,
                                              const CellFacts& facts, const Orderer& orderer);

// ---- an order to begin, pause, resume, abort or undo a rollout

[[nodiscard]] std::vector<std::string> needs_of_rollout(const Order& order, const std::string& id);

// Decides about an order. `found` is the rollout's record, or null if the rollout does not exist.
[[nodiscard]] OrderDecision decide_rollout_order(const Order& order, const std::string& id,
                                                 const KeyValue* found, const CellFacts& facts,
                                                 const Orderer& orderer);

}  // namespace fleet
