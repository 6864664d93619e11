// This file keeps the records about the desired version of one component, as a controller sees
// them: the desired version of the cell, and the records of the nodes (DesiredView). It also keeps
// the observations that the driving controller makes from these records (DesiredMarks). A wish is
// one write of the cell's desired version; writing the same version again makes a new wish. This
// file does no input or output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fleet/model/cell_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The name of the component fleet-agent. An upgrade of fleet-agent shows in the records of its
// instances, and an upgrade of any other component in the record node/ID/upgrade/COMPONENT.
inline constexpr std::string_view own_component = "agent";

template <class Record>
struct Seen {
  Record record = {};
  Revision revision = 0;  // the record's revision; 0 if the record is absent

  bool operator==(const Seen&) const = default;
};

struct DesiredNode {
  std::string running = {};
  Seen<Active> active = {};
  // The living processes of fleet-agent, by id.
  std::map<std::string, Seen<Instance>> instances = {};
  Seen<Upgrade> upgrade = {};
  Seen<Desired> desired = {};
  Seen<Claim> claim = {};
  Seen<Command> command = {};

  bool operator==(const DesiredNode&) const = default;
};

// Returns the version without its build metadata (`+...`), since two releases cannot differ in
// their build metadata alone.
[[nodiscard]] std::string_view without_build(std::string_view version);
[[nodiscard]] bool is_same_version(std::string_view version, std::string_view other);

// The desired version of the cell, and the revision at which it was written. If the same version is
// written again, all nodes try it again.
struct CellWish {
  Desired desired = {};
  Revision revision = 0;

  // Returns `desired-REVISION`, a string that stands for this write of the desired version. Each
  // order that a node gets because of this write, in its record node/ID/desired/COMPONENT, has this
  // string as its member `trace`.
  [[nodiscard]] std::string trace() const;

  bool operator==(const CellWish&) const = default;
};

class DesiredView {
 public:
  explicit DesiredView(std::string component) : component_(std::move(component)) {}

  [[nodiscard]] const std::string& component() const { return component_; }
  [[nodiscard]] const std::map<std::string, DesiredNode>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

  // Returns the desired version of the cell. Returns no value if no version is desired, or if no
  // node may move to the desired version now.
  [[nodiscard]] std::optional<CellWish> wish() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  // Returns the nodes whose records have changed since the last call, or no value if all records
  // were read anew.
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

// Returns the phase of the node's attempt to move to the version that its record
// node/ID/desired/COMPONENT names, or `unknown` if the node has not begun the attempt.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// Returns whether a controller has ever ordered the node to move to the version of this wish (one
// write of the cell's desired version). The result stays true even after a controller has taken the
// order back, so a node gets the order only once for each wish.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has got the order to move to the desired version, does not run the
// version yet, and has not failed.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has failed to move to the desired version, or has taken so long that a
// controller has taken back the order to move.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// Returns the id of the command to stop the old version on the node. The id begins with the id of
// the node's current attempt to move to another version, so each attempt has a command of its own.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

// ---- the observations

// Keeps two things for the controller that drives the desired version of a component: its
// observations, and the lists of nodes to which an order can be given. If a record changes, only
// the node of that record is examined again, so the cost does not grow with the number of nodes.
//
// The observations are not in the store, so another controller that takes over begins to observe
// anew.

class DesiredMarks {
 public:
  // Updates the observations and lists for the nodes whose records have changed since the last
  // call. The caller must call look() after each change, always with the same view.
  void look(DesiredView& view, Ms now);

  // ---- how many nodes are in which state

  [[nodiscard]] std::int64_t all() const { return all_; }  // how many nodes have the component
  [[nodiscard]] std::int64_t under_way() const { return under_way_; }
  [[nodiscard]] std::int64_t failed() const { return failed_; }
  [[nodiscard]] std::int64_t committed() const { return committed_; }

  // ---- the nodes that may get an order next, as far as their own records show

  using ByTime = std::set<std::pair<Ms, std::string>>;

  // The nodes that may get the order to move to the desired version, in two sets. waiting() has the
  // nodes on which the upgrade to an earlier desired version has not ended; the order makes a node
  // cancel that upgrade. beginning() has the nodes without such an upgrade, except those whose
  // maintenance window was noted as closed by close().
  [[nodiscard]] const std::set<std::string>& beginning() const { return beginning_; }
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }
  // The nodes that have got the order to move, and whose new version does not wait beside the old
  // one yet. Each entry has the time at which this controller first saw the node's order.
  [[nodiscard]] const ByTime& coming() const { return coming_; }
  // The nodes whose new version waits beside the old one, ready to replace it. Each entry has the
  // time at which this controller first saw that the new version is ready. Since that time, this
  // controller has seen the new version ready without a gap.
  [[nodiscard]] const ByTime& at_gate() const { return at_gate_; }
  // Returns the new version that may replace the old one on this node, with the time at which this
  // controller first saw it ready. Returns no value if there is no such version. For fleet-agent,
  // the string is the id of the new instance; for another component, it is the name of the version.
  // The new version must be ready, and must be the one that the node's own record
  // node/ID/desired/COMPONENT names. A new instance of fleet-agent must also be of the same boot as
  // the old instance.
  [[nodiscard]] std::optional<std::pair<Ms, std::string>> successor(const std::string& id,
                                                                    const DesiredNode& node) const;

  // ---- windows

  // Notes that the node's maintenance window is closed, so that nothing may begin on the node. The
  // window opens at the time `until`. If `until` has no value, only a changed record can open the
  // window.
  void close(const std::string& id, std::optional<Ms> until);
  [[nodiscard]] bool is_closed(const std::string& id) const { return closed_.contains(id); }
  // Returns the time at which the first of the closed maintenance windows opens.
  [[nodiscard]] std::optional<Ms> opens_at() const { return opens_at_; }
  // Forgets which maintenance windows are closed. Called when a record of a window has changed, or
  // a closed window may be open by now.
  void reopen();

  // Returns the observations (ready_ and told_) as a string, with times relative to `now`. Tests
  // compare these strings to find out whether two states are equal.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  // Says in which of the lists and counts of DesiredMarks a node is entered, so that the node can
  // be removed from them when its records change.
  struct Standing {
    bool has_component = false;
    bool is_under_way = false;
    bool has_failed = false;
    bool is_committed = false;
    bool may_begin = false;
    bool waits = false;
    std::optional<Ms> coming = {};
    std::optional<Ms> at_gate = {};
  };

  void look_at(const DesiredView& view, const std::string& id, Ms now);
  void observe(const std::string& id, const DesiredNode& node, Ms now);
  [[nodiscard]] Standing standing_of(const std::string& id, const DesiredNode& node) const;
  void count(const std::string& id, const Standing& standing, bool is_in);
  void list_beginning(const std::string& id, const Standing& standing);

  std::string component_;
  std::optional<CellWish> wish_;
  // For each node, its instances (processes of fleet-agent) that are alive, ready and not degraded,
  // by id. Each pair has two parts: the time at which this controller first saw the instance ready
  // with its current version, and that version. For a component other than fleet-agent, a node
  // whose new version waits beside the old one has one more entry, with an empty id. The second
  // part of that entry's pair is not a version, but the id of the node's attempt to move.
  std::map<std::string, std::map<std::string, std::pair<Ms, std::string>>> ready_;
  // For each node that has a record node/ID/desired/COMPONENT: the record's revision, and the time
  // at which this controller first saw the record at that revision. A node has no entry while a
  // rollout or a person has claimed it, or if its attempt to move to the version in the record has
  // ended.
  std::map<std::string, std::pair<Revision, Ms>> told_;
  std::map<std::string, std::optional<Ms>> closed_;
  std::optional<Ms> opens_at_;

  std::map<std::string, Standing> standings_;
  std::int64_t all_ = 0;
  std::int64_t under_way_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t committed_ = 0;
  std::set<std::string> beginning_;
  std::set<std::string> waiting_;
  ByTime coming_;
  ByTime at_gate_;
};

}  // namespace fleet
