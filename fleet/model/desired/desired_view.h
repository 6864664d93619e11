// This file keeps the records about the desired version of one component (DesiredView): the desired
// version of the cell, and the records of the nodes. It also keeps the observations that the
// driving controller makes of these records (DesiredMarks), such as since when a node's new version
// has been ready. A wish is one write of the cell's desired version; if the same version is written
// again, that is a new wish. This file does no input or output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The name of the component fleet-agent. The progress of its upgrade is found in the records of its
// instances (processes). For all other components, it is found in the record
// node/ID/upgrade/COMPONENT.
inline constexpr std::string_view own_component = "agent";

template <class Record>
struct Seen {
  Record record = {};
  Revision revision = 0;  // 0 if the record is absent

  bool operator==(const Seen&) const = default;
};

struct DesiredNode {
  std::string running = {};  // the version that the node runs
  Seen<Active> active = {};
  // The running processes of fleet-agent, by id.
  std::map<std::string, Seen<Instance>> instances = {};
  Seen<Upgrade> upgrade = {};
  Seen<Desired> desired = {};
  Seen<Claim> claim = {};
  Seen<Command> command = {};

  bool operator==(const DesiredNode&) const = default;
};

// Returns whether the two versions differ at most in their build metadata (`+...`), which does not
// distinguish two releases.
[[nodiscard]] bool is_same_version(std::string_view version, std::string_view other);

// A wish: one write of the cell's desired version, and the revision of that write. If the same
// version is written again, that is a new wish, and all nodes try the version again.
struct CellWish {
  Desired desired = {};
  Revision revision = 0;

  // Returns `desired-REVISION`, a string that identifies this wish. It is the member `trace` of
  // each order that a node gets because of this wish, in the record node/ID/desired/COMPONENT.
  [[nodiscard]] std::string trace() const;

  bool operator==(const CellWish&) const = default;
};

// Returns the cell's desired version as a wish, from the record desired/COMPONENT. Returns no value
// if the record is absent (its revision is 0), or if no node may move to the desired version now.
[[nodiscard]] std::optional<CellWish> wish_of(const Seen<Desired>& record);

class DesiredView {
 public:
  explicit DesiredView(std::string component) : component_(std::move(component)) {}

  [[nodiscard]] const std::string& component() const { return component_; }
  [[nodiscard]] const std::map<std::string, DesiredNode>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

  // Returns the cell's desired version with its revision. Returns no value if the cell has none, or
  // if no node may move to it now.
  [[nodiscard]] std::optional<CellWish> wish() const { return wish_of(wish_); }
  // Returns whether the cell has no record of a desired version, so that no node is to move.
  [[nodiscard]] bool is_wish_absent() const { return wish_.revision == 0; }

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  // Returns the nodes whose records have changed since the last call, or no value if all records
  // were read again since then.
  [[nodiscard]] std::optional<std::set<std::string>> take_changed();

 private:
  DesiredNode& changed(const std::string& id);

  std::string component_;
  Seen<Desired> wish_;
  std::map<std::string, DesiredNode> nodes_;
  bool stopped_ = false;
  std::set<std::string> changed_;
  bool all_changed_ = true;
};

// The following functions find out from a node's records how far the node has come towards a
// desired version. A node moves to the version that its own record node/ID/desired/COMPONENT names.
// Each write of that record begins one attempt.

[[nodiscard]] bool runs(const DesiredNode& node, const std::string& version);

// Returns the phase of the node's attempt to move to the version in its record
// node/ID/desired/COMPONENT, or `unknown` if the node has not begun this attempt.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// Returns whether a controller has ordered the node to move because of this wish (one write of the
// cell's desired version). This stays true if the node is then ordered back, so a node gets the
// order at most once for each wish.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// Returns whether the node is moving because of this wish (one write of the cell's desired
// version): it was ordered to move, was not ordered back, and its attempt to move has not ended. A
// node that already runs the version, and has begun no attempt, is not moving.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// Returns whether this order, a record node/ID/desired/COMPONENT, was written because of the cell's
// desired version, and not by a person.
[[nodiscard]] bool is_because_of_wish(const Desired& order);
// Returns whether a controller has ordered the node to move because of a present or earlier desired
// version of the cell, and the node has not come to the ordered version, or is still moving there.
[[nodiscard]] bool is_under_way(const DesiredNode& node);

// Returns whether the node has failed to move to the desired version `wish`. A node that took so
// long that a controller has ordered it back has failed, too.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// How far a node has come towards the cell's desired version, as far as the node's own records
// show.
struct WishStanding {
  bool has_component = false;
  bool is_under_way = false;
  bool has_failed = false;
  bool is_committed = false;
  // Whether the node may get the order to move. There may be other reasons to wait, such as a
  // closed maintenance window.
  bool may_begin = false;
  // Whether an upgrade to an earlier desired version has not ended on the node. An order to move
  // makes the node cancel that upgrade.
  bool waits = false;
  // Whether the node moves to the cell's desired version, its new version waits beside the old one,
  // and the old one may be ordered to stop. There may be other reasons to wait, such as a closed
  // maintenance window.
  bool is_at_gate = false;
};
[[nodiscard]] WishStanding standing_of(const DesiredNode& node, const CellWish& wish);

// Counts nodes by how far they have come towards the cell's desired version.
struct WishCount {
  std::int64_t all = 0;  // how many nodes have the component
  std::int64_t under_way = 0;
  std::int64_t failed = 0;
  std::int64_t committed = 0;

  // Counts `nodes` more nodes with this standing; a negative number takes them away again.
  void add(const WishStanding& standing, std::int64_t nodes) {
    if (standing.has_component) all += nodes;
    if (standing.is_under_way) under_way += nodes;
    if (standing.has_failed) failed += nodes;
    if (standing.is_committed) committed += nodes;
  }
};

// Returns whether a person has pinned the node to a version of its own, and this version waits
// beside the old one, which may be ordered to stop. There may be other reasons to wait, such as a
// closed maintenance window.
[[nodiscard]] bool is_pinned_at_gate(const DesiredNode& node);

// Returns the name under which nodes take places of budgets (budgets.h) to move to the desired
// version of the component, or to the version to which they are pinned.
[[nodiscard]] inline std::string run_of_desired(const std::string& component) {
  return "desired/" + component;
}

// Returns the id of the command that stops the old version on the node. The id begins with the id
// of the node's current attempt, so each attempt has a command of its own.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

// ---- the observations

// Observes the nodes for the controller that drives the desired version of a component: since when
// each instance has been ready, since when each node has had its order to move, and which nodes may
// get an order next. If a record changes, only the node of that record is examined again, so the
// cost of a change does not grow with the number of nodes. The observations are not in the store,
// so a controller that takes over begins to observe anew.
class DesiredMarks {
 public:
  // Updates the observations and lists for the nodes whose records have changed since the last
  // call. The caller calls this function after each change, always with the same view.
  void look(DesiredView& view, Ms now);

  // ---- how many nodes are in which state

  [[nodiscard]] const WishCount& counts() const { return counts_; }

  // ---- the nodes that may get an order next, as far as their own records show

  using ByTime = std::set<std::pair<Ms, std::string>>;

  // These two functions return the nodes that may be ordered to move to the desired version.
  // waiting() returns the nodes on which the upgrade to an earlier desired version has not ended:
  // the order makes such a node cancel that upgrade. beginning() returns all other nodes, except
  // those whose maintenance window is closed: see close().
  [[nodiscard]] const std::set<std::string>& beginning() const { return beginning_; }
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }
  // Returns the nodes that were ordered to move, and whose new version does not wait beside the old
  // one yet. Each entry contains the time at which this controller first saw the node's order.
  [[nodiscard]] const ByTime& coming() const { return coming_; }
  // Returns the nodes whose new version waits beside the old one, ready to replace it. Each entry
  // contains the time since which this controller has seen the new version ready without a gap.
  [[nodiscard]] const ByTime& at_gate() const { return at_gate_; }
  // Returns the nodes that were ordered to move, and have not arrived, although a person has
  // removed the desired version since. They have to keep the version that they run.
  [[nodiscard]] const std::set<std::string>& left() const { return left_; }
  // Returns the new version that may replace the old one on this node, and the time since which
  // this controller has seen it ready. It must be the version in the node's record
  // node/ID/desired/COMPONENT. Returns no value if there is no such version. For fleet-agent, the
  // string is the id of the new instance, which must be of the same boot as the old instance. For
  // another component, the string is the version's name.
  [[nodiscard]] std::optional<std::pair<Ms, std::string>> successor(const std::string& id,
                                                                    const DesiredNode& node) const;

  // ---- windows

  // Records that the node's maintenance window is closed, so that no step of an upgrade may begin
  // on the node. The window opens at the time `until`. Without a value, the window stays closed
  // until a record changes.
  void close(const std::string& id, std::optional<Ms> until);
  [[nodiscard]] bool is_closed(const std::string& id) const { return closed_.contains(id); }
  // Returns the time at which the first of the closed maintenance windows opens.
  [[nodiscard]] std::optional<Ms> opens_at() const { return opens_at_; }
  // Forgets which maintenance windows are closed. Called when the record of a window has changed,
  // or when the first of these windows may have opened.
  void reopen();

  // Returns the observations as a string, with times relative to `now`. Tests compare these strings
  // to find out whether two states are equal.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  // The lists and counts in which a node is entered. When the node's records change, the node is
  // first removed from them, and then entered anew.
  struct Standing {
    WishStanding towards = {};
    std::optional<Ms> coming = {};
    std::optional<Ms> at_gate = {};
    bool is_left = false;
  };

  void look_at(const DesiredView& view, const std::string& id, Ms now);
  void observe(const std::string& id, const DesiredNode& node, Ms now);
  [[nodiscard]] Standing standing_of(const std::string& id, const DesiredNode& node) const;
  void count(const std::string& id, const Standing& standing, bool is_in);
  void list_beginning(const std::string& id, const Standing& standing);

  std::string component_;
  std::optional<CellWish> wish_;
  bool is_absent_ = true;  // the cell has no record of a desired version
  // For each node and each of its instances (processes of fleet-agent) that is ready and not
  // degraded: the time at which this controller first saw the instance ready, and its version. For
  // other components, a node has one more entry, with an empty id, while its new version waits
  // beside the old one. That entry contains the id of the attempt in place of the version.
  std::map<std::string, std::map<std::string, std::pair<Ms, std::string>>> ready_;
  // For each node with a record node/ID/desired/COMPONENT: the record's revision, and the time at
  // which this controller first saw this revision. A node has no entry while a rollout or a person
  // has claimed it, or after its attempt to move has ended.
  std::map<std::string, std::pair<Revision, Ms>> told_;
  std::map<std::string, std::optional<Ms>> closed_;  // the closed windows; see close()
  std::optional<Ms> opens_at_;

  std::map<std::string, Standing> standings_;
  WishCount counts_;
  std::set<std::string> beginning_;
  std::set<std::string> waiting_;
  ByTime coming_;
  ByTime at_gate_;
  std::set<std::string> left_;
};

}  // namespace fleet
