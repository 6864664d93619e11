// Shows this controller's copy of the records to clients: answers requests for `/v1/state` with a
// summary of the cell, one record, or all records below a path, and makes the events of the stream
// `/v1/changes`. Does no input or output.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/http/message.h"
#include "fleet/model/desired/desired_decision.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"
#include "fleet/store/store.h"

namespace fleet {

struct StateMoment {
  UnixSeconds now = 0;
  // Returns the time zone with this name, or no value if this machine does not know it.
  std::function<std::optional<TimeZone>(const std::string& name)> zone = {};
  // The settings with which this controller moves nodes to desired versions.
  DesiredSettings desired = {};
};

struct StateView {
  const std::map<std::string, KeyValue, std::less<>>& records;
  const CellState& cell;
  const Health& health;
};

// Returns the answer to a request, which may have these parameters:
//
//     fields=a,b.c        only these members of each record
//     content=config      for a window: only its settings
//     content=nonconfig   for a window: whether it is open now, and when it opens or closes next
//     content=failures    for a rollout: why its nodes failed, one group for each kind of failure
//     subject=node/n1     only events about this record and about records below it
//     who=NAME            only events that this person has ordered
//     trace=TRACE         only events of the order with this trace, such as those of a rollout
//     limit=N             only the last N entries of a list
//     before=KEY          only entries before this key, to read a long list page by page
[[nodiscard]] Response state_answer(const Request& request, const std::string& rest,
                                    const StateView& view, const StateMoment& moment);

// ---- server-sent events for clients that follow the cell. An event contains the changed records
// of rollouts, plans and the cell. Of changed nodes, it contains only the names, since nobody looks
// at all nodes at the same time

// Returns the event that reports these changes to clients. Returns an empty string if there is
// nothing to report.
[[nodiscard]] std::string changes_event(Revision revision, const std::vector<Change>& changes);

// Returns the event that tells clients that the store does not answer, and why.
[[nodiscard]] std::string trouble_event(const std::string& reason);

// Returns the first event of a stream, with the revision after which the stream reports all
// changes. If the controller does not hear the store, an event with the reason comes behind it.
[[nodiscard]] std::string hello_events(Revision revision, const Health& health);

// Returns the event that is sent on each stream regularly, so that the client notices if the stream
// is broken. `follows` says whether the controller hears the store.
[[nodiscard]] std::string beat_event(Revision revision, bool follows);

}  // namespace fleet
