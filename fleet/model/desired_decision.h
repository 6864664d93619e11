// Moves a cell to the desired version of a component, node by node: decides what the controller
// with the key `driver/desired` does next, from the records in the store and from how long it has
// seen each instance.
//
//     state of the node                 what the controller does
//     has another version than wished   if the node may move, writes its record
//                                       node/ID/desired/COMPONENT, which is its order to move: for
//                                       one node, until one runs the version; then for at most
//                                       uncommitted_percent of all nodes at a time
//     staging, verifying                if this has lasted for staging_ms, sets that record back to
//                                       the version that the node runs
//     cutover-ready                     orders the old instance to stop, if the controller itself
//                                       has seen the new instance: of the wished version, ready, of
//                                       the same boot, alive for observe_ms without a gap (for a
//                                       component other than fleet-agent: its upgrader has reported
//                                       for observe_ms that the version waits at its gate)
//     any, and the wish has changed     writes the new wish into that record; the node then cancels
//                                       the upgrade that waits
//
// An old instance is told to stop only if its node has its places of the cell's budgets
// (budgets.h): the same transaction takes them. They are given back when the upgrade has ended.
//
// When max_failed nodes have failed at a wish, no node gets an order to move any more, and no old
// instance an order to stop: an instance that waits at its gate stays there. If the wish is written
// again, even the same one, the nodes try again. While a node's window is closed, or will close
// before the upgrade can be over, the node gets no order to move, nor its old instance one to stop.
// A node keeps its version if it is claimed, is pinned to a version of its own, or was moved by a
// rollout since the wish was written. On a pinned node, old instances are ordered to stop as on any
// other. While anything is doubtful, such as a missing record, no instance is ordered to stop.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fleet/model/budgets.h"
#include "fleet/model/desired_marks.h"
#include "fleet/model/desired_view.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"
#include "fleet/model/window_view.h"

namespace fleet {

struct DesiredSettings {
  std::int64_t max_failed = 1;
  std::int64_t uncommitted_percent = 5;
  Ms observe_ms = 30'000;   // how long a new version must be ready before the old one is stopped
  Ms staging_ms = 900'000;  // time to fetch and start the version, over a slow link
  Ms stop_ms = 60'000;      // time for the old instance to end
};

// Returns whether something that takes the time `takes` may begin on a node now, by its window.
using DesiredOpening = std::function<Opening(const std::string& node, Ms takes)>;

struct DesiredDecision {
  // The transaction to write now, or no value if there is nothing to write.
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};  // when to decide again, if no record has changed by then
  std::string news = {};         // a line for the log
};

// Decides the next transaction. A command to stop the old version gets the lease `lease`, whose end
// is the time limit of the command. `marks` must be up to date with the view; the decision notes in
// it which windows are closed.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings, DesiredMarks& marks,
                                             Revision fence, LeaseId lease, Ms now,
                                             const Budgets* budgets = nullptr,
                                             const DesiredOpening& opening = nullptr);

}  // namespace fleet
