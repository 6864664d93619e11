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

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fleet/model/budgets.h"
#include "fleet/model/desired_view.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct DesiredSettings {
  std::int64_t max_failed = 1;
  std::int64_t uncommitted_percent = 5;
  Ms observe_ms = 30'000;   // how long a new version must be ready before the old one is stopped
  Ms staging_ms = 900'000;  // time to fetch and start the version, over a slow link
  Ms stop_ms = 60'000;      // time for the old instance to end
};

// The observations that this controller has made itself. They are not in the store, so another
// controller that takes over begins to observe anew.
struct DesiredMarks {
  // The key is a node and one of its instances. The value is the time since which the instance has
  // been ready and alive, and its version. If the component is not fleet-agent, the key is a node
  // and an empty text. The value is then the time since which the node's new version has waited at
  // its gate, and the id of the attempt.
  std::map<std::pair<std::string, std::string>, std::pair<Ms, std::string>> ready = {};
  // For each node that has a record node/ID/desired/COMPONENT: its revision, and the time at which
  // this controller first saw the record at that revision.
  std::map<std::string, std::pair<Revision, Ms>> told = {};
  // The nodes whose windows are closed, and when each window opens. No value as a time: only a
  // changed record can open the window.
  std::map<std::string, std::optional<Ms>> closed = {};

  bool operator==(const DesiredMarks&) const = default;
};

struct DesiredDecision {
  // The transaction to write now, or no value if there is nothing to write.
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};  // when to decide again, if no record has changed by then
  std::string news = {};         // a line for the log
};

// Brings the observations up to date with the records in the view. The caller calls this after each
// change.
void look(const DesiredView& view, DesiredMarks& marks, Ms now);

// Decides the next transaction. A command to stop the old version gets the lease `lease`, whose end
// is the time limit of the command.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings,
                                             const DesiredMarks& marks, Revision fence,
                                             LeaseId lease, Ms now,
                                             const Budgets* budgets = nullptr);

}  // namespace fleet
