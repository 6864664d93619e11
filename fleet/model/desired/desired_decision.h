// This file moves a cell to the desired version of a component, node by node. It decides what the
// controller with the key `driver/desired` does next, from the records in the store, and from how
// long this controller has seen each instance (process of fleet-agent).
//
// An upgrade of a node is cutover-ready when the new version waits beside the old one, ready to
// replace it. To order a node to move, the controller writes the node's record
// node/ID/desired/COMPONENT.
//
//     state of the node                 what the controller does
//     runs another version than the     if the node may move, orders it to move. Until one node
//     desired one                       runs the desired version, only one node moves. Then at most
//                                       uncommitted_percent of all nodes move at the same time, but
//                                       always at least one
//     ordered to move, but not yet      if this state has lasted for staging_ms, orders the node
//     cutover-ready                     back to the version that it runs
//     cutover-ready                     orders the old instance to stop, if this controller has
//                                       seen for observe_ms without a gap that the new version is
//                                       ready: see below
//     ordered to move, and there is no  orders the node to keep the version that it runs
//     desired version any more
//     an upgrade has not ended, and a   if the node may move, orders it to move to the new desired
//     different version is desired now  version; the node then cancels that upgrade
//
// A new version of fleet-agent is ready if its instance is alive, ready and not degraded, has the
// desired version, and is of the same boot as the old instance. A new version of another component
// is ready if the component's upgrader reports that it waits until the old version stops.
//
// Budgets limit how many nodes may be down at the same time (budgets.h). The transaction that
// orders an old instance to stop also takes the node's places in the budgets. If a place is not
// free, the order waits. The places are given back when the upgrade has ended.
//
// A wish is one write of the cell's desired version, even if the version stays the same. There are
// five reasons not to order a node to move, or not to order its old instance to stop:
//
// - max_failed nodes have failed to move to the version of a wish: the cell halts. Neither order is
//   given to any node, and new versions that wait beside old ones keep waiting. When no node is
//   "ordered to move, but not yet cutover-ready", the controller marks the desired version as
//   refused, so that the halt lasts. A new wish ends the halt, and the nodes try again.
// - The node's maintenance window is closed, or closes before the ordered step can be over: neither
//   order is given.
// - A rollout or a person has claimed the node, a rollout has moved it since the wish was written,
//   or the node is pinned to a version of its own: the node keeps its version.
// - A record that the decision depends on is missing or cannot be read: no instance is ordered to
//   stop.
// - The record `stop` exists: neither order is given.
//
// Exception: if a pinned node has to move to its own version, its old instance is ordered to stop
// even during a halt.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/drivers/budgets.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

struct DesiredSettings {
  std::int64_t max_failed = 1;
  std::int64_t uncommitted_percent = 5;
  Ms observe_ms = 30'000;  // how long a new version must be ready before the old one is stopped
  // The time in which a node must fetch and start the new version. This is enough for a slow link.
  Ms staging_ms = 900'000;
  // The time in which the old instance must exit after the order to stop.
  Ms stop_ms = 60'000;
};

// Returns the longest time from the order to move until the node's upgrade is over.
[[nodiscard]] Ms upgrade_ms(const DesiredSettings& settings);

// Returns whether so many nodes have failed that no other node gets an order to move.
[[nodiscard]] bool has_halted(const WishCount& nodes, const DesiredSettings& settings);
// Returns whether one more node may get the order to move, as far as the numbers of the other nodes
// show.
[[nodiscard]] bool may_one_more_begin(const WishCount& nodes, const DesiredSettings& settings);

// Returns whether an action that takes the time `takes` may begin on the node now, according to the
// node's maintenance window.
using DesiredOpening = std::function<Opening(const std::string& node, Ms takes)>;

struct DesiredDecision {
  // The transaction to write now, or no value if there is nothing to write.
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};  // when to decide again, unless a record changes before
  std::string news = {};         // a line for the log; empty if there is nothing to log
};

// Decides the next transaction. If the transaction commands a node to stop the old version, the
// command gets the lease `lease`. The store erases the command when this lease ends, so that the
// node cannot obey it too late. `marks` has this controller's observations: the caller has just
// called marks.look() with `view`. This function notes in `marks` which maintenance windows are
// closed.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings, DesiredMarks& marks,
                                             Revision fence, LeaseId lease, Ms now,
                                             const Budgets* budgets = nullptr,
                                             const DesiredOpening& opening = nullptr);

}  // namespace fleet
