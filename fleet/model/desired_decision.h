// Moves a cell to the desired version of a component, node by node: what the holder of
// `driver/desired` does next, decided from what stands in the store and from how long it has seen
// each instance.
//
//     node                              what is done
//     has another version than wished   is told by its own record, node/ID/desired/COMPONENT, where
//                                       it may: one, until one runs it; then at most
//                                       uncommitted_percent of all at a time
//     staging, verifying                waited for, staging_ms long; then told back to what it runs
//     cutover-ready                     the old instance is told to stop, once this controller has
//                                       itself seen the new one's own record: the wished version,
//                                       ready, of the same boot, alive for observe_ms without a gap
//                                       (of a component other than fleet-agent: that it waits at
//                                       its gate, as its upgrader says, for observe_ms)
//     the cell's wish has changed       is told the new one, by which it cancels what waits
//
// When max_failed nodes have failed for a wish, nobody is told to begin any more and nobody to
// stop: who waits at its gate stays there. Writing the wish anew, even the same, is another
// attempt. Nobody is told to begin, and no old instance to stop, while the node's window is closed,
// or is open for less time than that takes. A node that is claimed, or pinned to a version of its
// own, or that a rollout has moved since the wish was written, is left where it is; a pinned one is
// told to stop as any other. While anything is doubtful, such as a record that is missing, no
// instance is told to stop.
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
  Ms staging_ms = 900'000;  // fetching over a slow link
  Ms stop_ms = 60'000;      // the old instance's time to end
};

// The observations that this controller has made itself. They are not in the store, so a controller
// that takes over begins them anew.
struct DesiredMarks {
  // With a node and an instance: the time since which the instance is ready and alive, and its
  // version. With a node and no instance: the time since which another component waits at its gate,
  // and the attempt for which it waits.
  std::map<std::pair<std::string, std::string>, std::pair<Ms, std::string>> ready = {};
  std::map<std::string, std::pair<Revision, Ms>> told = {};  // a node's order, and since when
  std::map<std::string, std::optional<Ms>> closed = {};      // nodes by whose window nothing begins

  bool operator==(const DesiredMarks&) const = default;
};

struct DesiredDecision {
  std::optional<Transaction> transaction = {};  // the next; none: nothing is to be done now
  std::optional<Ms> until = {};                 // when time alone changes that
  std::string news = {};                        // for people
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
