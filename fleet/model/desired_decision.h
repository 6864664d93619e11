// This file moves a cell to the desired version of a component, node by node. It decides what the
// controller with the key `driver/desired` does next. The decision depends on the records in the
// store, and on how long this controller has seen each instance (process of fleet-agent).
//
//     state of the node                 what the controller does
//     runs a version that is not        if the node may move, writes the node's record
//     desired                           node/ID/desired/COMPONENT, which orders the node to move.
//                                       Until one node runs the desired version, only one node
//                                       moves; then at most uncommitted_percent of all nodes, but
//                                       at least one, move at the same time
//     ordered to move, but not yet      if this state has lasted for staging_ms, sets the node's
//     cutover-ready (as in staging      record back to the version that the node runs
//     and verifying)
//     cutover-ready                     orders the old instance to stop, if this controller has
//                                       seen for observe_ms without a gap that the new version is
//                                       ready: see below
//     an upgrade has not ended, and a   if the node may move, writes the new desired version into
//     different version is desired now  the node's record; the node then cancels that upgrade
//
// For fleet-agent, the new version is ready if a new instance is alive, ready and not degraded, has
// the desired version, and is of the same boot as the old instance. For another component, the new
// version is ready if its upgrader reports that this version waits until the old one stops.
//
// An old instance is ordered to stop only if its node can get the places that it needs in the
// cell's budgets, which limit how many nodes may be down at the same time (budgets.h). The
// transaction that writes the order also takes the places. The places are given back when the
// upgrade has ended.
//
// In this file, a wish is one write of the desired version: if the same version is written again,
// the second write is a new wish. Orders to move, and orders to stop an old instance, are held
// back:
//
// - When max_failed nodes have failed to move to the version of a wish, no other node gets an order
//   to move, and no old instance gets an order to stop. A new version that waits beside the old one
//   then keeps waiting. As soon as no node is in the state "ordered to move, but not yet
//   cutover-ready" any more, the cell's desired version is marked as refused, so that the halt
//   lasts. After a new wish, the nodes try again.
// - While a node's maintenance window is closed, or will close before the ordered part of the
//   upgrade can be over, the node gets no order to move, and its old instance gets no order to
//   stop.
// - A node keeps its version if a rollout or a person has claimed it, if it is pinned to a version
//   of its own, or if a rollout has moved it since the wish was written.
// - If a record that the decision depends on is missing or cannot be read, no instance is ordered
//   to stop.
//
// If a pinned node has to move to its own version, its old instance is ordered to stop even if
// max_failed nodes have failed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fleet/model/budgets.h"
#include "fleet/model/desired_view.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"
#include "fleet/model/windows.h"

namespace fleet {

struct DesiredSettings {
  std::int64_t max_failed = 1;
  std::int64_t uncommitted_percent = 5;
  Ms observe_ms = 30'000;   // how long a new version must be ready before the old one is stopped
  Ms staging_ms = 900'000;  // time to fetch and start the version, over a slow link
  // The time in which the old instance must exit after the order to stop.
  Ms stop_ms = 60'000;
};

// Decides whether an action that takes the time `takes` may begin on the node now, according to the
// node's maintenance window.
using DesiredOpening = std::function<Opening(const std::string& node, Ms takes)>;

struct DesiredDecision {
  // The transaction to write now, or no value if there is nothing to write.
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};  // when to decide again, if no record has changed by then
  std::string news = {};         // a line for the log; empty if there is nothing to log
};

// Decides the next transaction. If it commands a node to stop the old version, the command gets the
// lease `lease`: the store erases the command when the lease ends, so that the node cannot obey it
// too late. `marks` (this controller's observations) must be up to date with `view`. The function
// notes in `marks` which maintenance windows are closed.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings, DesiredMarks& marks,
                                             Revision fence, LeaseId lease, Ms now,
                                             const Budgets* budgets = nullptr,
                                             const DesiredOpening& opening = nullptr);

}  // namespace fleet
