// Moves a cell to the desired version of a component, node by node: what the holder of
// `driver/desired` does next, decided from what stands in the store and from how long it has seen
// each instance.
//
//     node                              what is done
//     has another version than wished   begins, where it may: one, until one is committed for this
//                                       wish; then at most uncommitted_percent of all at a time
//     staging, verifying                waited for, staging_ms long; then it is cancelled and has
//                                       failed
//     cutover-ready                     the old instance is told to stop, once this controller has
//                                       itself seen the new one's own record: the wished version,
//                                       ready, of the same boot, alive for observe_ms without a gap
//     done, failed                      its claim is given back
//     its wish has changed              cancelled: told to roll back, and free when it has answered
//
// A node that is cancelled for being late has failed. When max_failed nodes have failed for a wish,
// nobody begins any more and nobody is stopped: who waits at its gate stays there. Writing the wish
// anew, even the same, is another attempt. While anything is doubtful, such as a record that is
// missing, no instance is told to stop.
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

// What this controller has seen by itself; another that takes over sees it anew.
struct DesiredMarks {
  // By node and instance: since when it is ready and alive, and by which version.
  std::map<std::pair<std::string, std::string>, std::pair<Ms, std::string>> ready = {};
  std::map<std::string, std::pair<Revision, Ms>> began = {};  // a node's claim, and since when

  bool operator==(const DesiredMarks&) const = default;
};

struct DesiredDecision {
  std::optional<Transaction> transaction = {};  // the next; none: nothing is to be done now
  std::optional<Ms> until = {};                 // when time alone changes that
  std::string news = {};                        // for people
};

// Brings the marks up to date with what is seen. To be called whenever anything has changed.
void look(const DesiredView& view, DesiredMarks& marks, Ms now);

[[nodiscard]] DesiredDecision decide_desired(const DesiredView& view,
                                             const DesiredSettings& settings,
                                             const DesiredMarks& marks, Revision fence,
                                             LeaseId lease, Ms now);

}  // namespace fleet
