// Says why a rollout, a desired version, or a plan before its first step begins nothing now: a stop
// is ordered, windows are closed, or no controller drives the work. A desired version may also wait
// for a place of a budget. The store does not record these reasons, since they change as time
// passes. (Only the budget places for which a rollout or a plan waits are in its record.) This file
// does no input or output.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/desired/desired_decision.h"
#include "fleet/model/drivers/budgets.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// Returns the nodes of the rollout's batch that have not ended. If all of them have begun to run
// the new version, nothing is to begin now, and the result is empty. `reading` has the rollout's
// records.
[[nodiscard]] std::vector<std::string> nodes_to_begin(const Rollout& rollout,
                                                      const Reading& reading);
// Returns all members of the plan if the plan runs and has not begun its first step. Otherwise the
// result is empty: after the beginning of the first step, windows do not hold the plan back.
[[nodiscard]] std::vector<std::string> nodes_to_begin(const PlanView& view);
// Returns whether the plan runs and has not begun its first step.
[[nodiscard]] bool is_to_begin(const Plan& plan);

// The nodes on which an upgrade or a plan is to begin, and how long it takes there.
struct ToBegin {
  std::vector<std::string> nodes = {};
  Ms takes = 0;
  bool ignore_window = false;
  // True if each node begins by itself, when its own window is open. Otherwise all nodes begin
  // together, and the windows of all must be open.
  bool one_by_one = false;
  // Nodes that have begun already, and whose new version waits beside the old one. The old version
  // must still be stopped. This takes the time `stop_takes`, and may begin only while the node's
  // window is open. Empty if `one_by_one` is false.
  std::vector<std::string> at_gate = {};
  Ms stop_takes = 0;
  // The name under which the nodes in `at_gate` take budget places, such as `desired/web`.
  std::string run = {};
};
[[nodiscard]] ToBegin to_begin(const Rollout& rollout, const Reading& reading);
// Returns the members of a plan that has not begun its first step, and how long the plan may take.
// If the plan has begun a step or does not run, the result has no nodes. `budgets` are those of the
// cell.
[[nodiscard]] ToBegin to_begin(const PlanView& view, const Budgets& budgets);

// Returns whether the node runs another version than the desired one, and stays there without being
// pinned: a rollout has moved the node since the cell's desired version was written.
[[nodiscard]] bool keeps_later_version(const DesiredNode& node, const CellWish& wish);

// Finds the nodes that may be the next to move to the desired version, and the nodes whose new
// version waits beside the old one (at its gate). Examines one node at a time, and keeps only the
// names of the nodes that it finds, since a cell may have thousands of nodes.
class NextNodes {
 public:
  // The controller's settings are not in the store, so fleetctl uses the defaults.
  NextNodes(std::string component, CellWish wish, const DesiredSettings& settings = {})
      : component_(std::move(component)), wish_(std::move(wish)), settings_(settings) {}

  // Examines one node. The caller must pass all nodes of the cell in the order of their names,
  // since the driver tries them in this order.
  void take(const std::string& id, const DesiredNode& node);

  // Returns the nodes that were found. If too many nodes are on the way for one more to begin,
  // `nodes` has only those whose upgrade to an earlier desired version has not ended. If so many
  // nodes have failed that no node moves any more, the result has no nodes at all.
  [[nodiscard]] ToBegin to_begin() const;

 private:
  std::string component_;
  CellWish wish_;
  DesiredSettings settings_;
  WishCount counts_ = {};
  // Nodes whose upgrade to an earlier desired version has not ended. The driver tries them first,
  // however many nodes are on the way.
  std::vector<std::string> first_ = {};
  std::vector<std::string> others_ = {};
  std::vector<std::string> at_gate_ = {};
};

struct Held {
  std::string words = {};  // what the rollout, plan or node waits for; empty if it need not wait
  // True if a person has to change something, for example because the windows are never open long
  // enough. False if the wait ends by itself, or if the reason is a stop, which a person has
  // ordered.
  bool needs_person = false;
};

// Returns the reason why nothing in `what` begins now. The caller must have given the nodes to
// `windows`, and the time of the wall clock at the moment 0 (set_wall()). `budgets` are those of
// the cell, with all its nodes, or null if the cell has none.
[[nodiscard]] Held held_back(const ToBegin& what, bool is_stopped, const WindowView& windows,
                             const Budgets* budgets = nullptr);
// Returns the reason why nothing in `what` begins now. `cell` must contain the record `stop`, and
// the records of windows, nodes and identities.
[[nodiscard]] Held held_back(const ToBegin& what, const Reading& cell, UnixSeconds now,
                             const ZoneBook& zones);

// Returns a line for each batch of a new rollout whose windows never allow the batch to begin, such
// as `batch 2 cannot begin: a, b: ...`. `windows` is as for held_back().
[[nodiscard]] std::vector<std::string> batches_held_for_ever(
    const std::vector<std::vector<std::string>>& batches, const RolloutTerms& terms,
    const WindowView& windows);

// Returns the reason to wait if no controller drives the rollout or plan `id`, or an empty Held if
// a controller drives it. `cell` contains the records of controllers and drivers.
[[nodiscard]] Held undriven(const std::string& id, const Reading& cell);
// Returns what a driven plan waits for that was under way in the snapshot of a restored store. Its
// members do nothing for it, and a controller halts it at once, unless the controller has an older
// version. `cell` has the records of drivers.
[[nodiscard]] Held not_halted(const PlanView& view, const Reading& cell);

// Returns what a plan waits for if its rollout of fleet-agent, which comes before the first step,
// is under way or paused.
[[nodiscard]] Held agents_to_come(const PlanView& view);

// ---- pinned nodes, each of which moves by itself to the version that a person has chosen for it

// Pinned nodes that cannot replace their old version yet, although the new one is ready beside it.
// All are pinned to the same version of a component.
struct HeldPins {
  std::string component = {};
  std::string version = {};
  std::vector<std::string> nodes = {};
  Held held = {};  // what the first of the nodes waits for
};

// Finds the pinned nodes whose new version is ready, and waits beside the old one (at its gate).
// Examines one node at a time, and keeps only those that it finds.
class PinnedNodes {
 public:
  explicit PinnedNodes(const DesiredSettings& settings = {}) : settings_(settings) {}

  void take(const NodeView& node);

  // Returns the names of all pinned nodes that were found.
  [[nodiscard]] std::vector<std::string> at_gate() const;
  // Returns the found nodes that still have to wait, in groups with the same component and version.
  // `windows` and `budgets` are as for held_back().
  [[nodiscard]] std::vector<HeldPins> held(bool is_stopped, const WindowView& windows,
                                           const Budgets* budgets) const;

 private:
  struct Pin {
    std::string node = {};
    bool ignore_window = false;
  };

  DesiredSettings settings_;
  // The pinned nodes whose new version waits beside the old one, by component and version.
  std::map<std::pair<std::string, std::string>, std::vector<Pin>> pins_ = {};
};

}  // namespace fleet
