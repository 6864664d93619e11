// Moves a cell to the desired version of a component, node by node: decides what the holder of
// `driver/desired` does next, from the records in the store and from how long it has seen each
// instance.
//
//     state of the node                 what is done
//     has another version than wished   if it may, the node is told by its own record,
//                                       node/ID/desired/COMPONENT: one node, until one runs the
//                                       version; then at most uncommitted_percent of all at a time
//     staging, verifying                the node has staging_ms; then its record is set back to the
//                                       version that it runs
//     cutover-ready                     the old instance is told to stop, once this controller has
//                                       itself seen the record of the new instance: of the wished
//                                       version, ready, of the same boot, alive for observe_ms
//                                       without a gap (for a component other than fleet-agent: the
//                                       upgrader says for observe_ms that it waits at its gate)
//     the cell's wish has changed       the node is told the new wish, and cancels the upgrade that
//                                       waits
//
// When max_failed nodes have failed for a wish, no node is told to begin any more, and no instance
// to stop: an instance that waits at its gate stays there. Writing the wish anew, even the same
// one, is another attempt. No node is told to begin, and no old instance to stop, while the node's
// window is closed, or is open for less time than that takes. A node keeps its version if it is
// claimed, is pinned to a version of its own, or was moved by a rollout since the wish was written;
// on a pinned node, old instances are told to stop as on any other. While anything is doubtful,
// such as a missing record, no instance is told to stop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fleet/model/desired_view.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct DesiredSettings {
  std::int64_t max_failed = 1;
  std::int64_t uncommitted_percent = 5;
  Ms observe_ms = 30'000;   // the shortest time to observe a new version before the old one goes
  Ms staging_ms = 900'000;  // for fetching over a slow link
  Ms stop_ms = 60'000;      // for the old instance to end
};

// The observations that this controller has made itself. They are not in the store, so a controller
// that takes over begins them anew.
struct DesiredMarks {
  // For a node and an instance, the time since which the instance has been ready and alive, and its
  // version. For a node and an empty instance, the time since which another component has waited at
  // its gate, and the attempt for which it waits.
  std::map<std::pair<std::string, std::string>, std::pair<Ms, std::string>> ready = {};
  // For each node that was told a version: the revision of its record node/ID/desired/COMPONENT,
  // and the time at which this controller first saw the record at that revision.
  std::map<std::string, std::pair<Revision, Ms>> told = {};
  // The nodes on which nothing begins because of their windows, and when something may begin there;
  // no value if only a changed record can open the window.
  std::map<std::string, std::optional<Ms>> closed = {};

  bool operator==(const DesiredMarks&) const = default;
};

struct DesiredDecision {
  // The transaction to make now, or no value if nothing is to be done now.
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};  // the time at which the decision changes by itself
  std::string news = {};         // a line for people
};

// Brings the marks up to date with the view. The caller calls this whenever anything has changed.
void look(const DesiredView& view, DesiredMarks& marks, Ms now);

// Decides the next transaction. The lease `lease` becomes the time limit of a command to stop, its
// not-after.
[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings,
                                             const DesiredMarks& marks, Revision fence,
                                             LeaseId lease, Ms now);

}  // namespace fleet
