// Moves a cell to the desired version of a component, node by node: decides what the controller
// with the key `driver/desired` does next, from the records in the store and from how long it has
// seen each instance.
//
//     state of the node                 what the controller does
//     runs another version than desired if the node may move, writes its record
//                                       node/ID/desired/COMPONENT, which is its order to move: for
//                                       one node, until one runs the version; then for at most
//                                       uncommitted_percent of all nodes at a time
//     staging, verifying                if this has lasted for staging_ms, sets that record back to
//                                       the version that the node runs
//     cutover-ready                     orders the old instance to stop, if the controller itself
//                                       has seen the new instance: of the desired version, ready,
//                                       of the same boot, alive for observe_ms without a gap (for a
//                                       component other than fleet-agent: its upgrader has reported
//                                       for observe_ms that the new version waits for the stop)
//     any, and another version is       writes the new desired version into that record; the node
//     desired now                       then cancels the upgrade that waits
//
// An old instance is ordered to stop only if its node has its places of the cell's budgets
// (budgets.h): the same transaction takes them. They are given back when the upgrade has ended.
//
// In this file, a wish is one write of the desired version: if the same version is written again,
// it is a new wish. When max_failed nodes have failed at a wish, no further node gets an order to
// move, and no old instance gets an order to stop. A new version that waits beside the old one then
// keeps waiting. After a new wish, the nodes try again. While a node's maintenance window is
// closed, or will close before the upgrade can be over, neither order is given. A node keeps its
// version if a rollout or a person has claimed it, if it is pinned to a version of its own, or if a
// rollout has moved it since the wish was written. On a pinned node, old instances are ordered to
// stop as on any other. If a record that matters is missing or cannot be read, no instance is
// ordered to stop.
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
  // The time limit for the end of the old instance, after the order to stop.
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

// Decides the next transaction. A command to stop the old version gets the lease `lease`, whose end
// is the time limit of the command. `marks` must be up to date with the view; the function notes in
// `marks` which windows are closed.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings, DesiredMarks& marks,
                                             Revision fence, LeaseId lease, Ms now,
                                             const Budgets* budgets = nullptr,
                                             const DesiredOpening& opening = nullptr);

}  // namespace fleet
