// The answers of `/v1/state`, from the copy of the records that this controller keeps: the cell at
// a glance, a record, or all records below a path. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fleet/http/cell_state.h"
#include "fleet/http/health.h"
#include "fleet/http/message.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct StateMoment {
  UnixSeconds now = 0;
  // Returns no value if there is no such zone here.
  std::function<std::optional<TimeZone>(const std::string& name)> zone = {};
};

struct StateView {
  const std::map<std::string, KeyValue, std::less<>>& records;
  const CellState& cell;
  const Health& health;
};

//     fields=a,b.c        only these members of each record
//     content=config      of a window what was set; `nonconfig`: whether it is open, and when next
//     subject=node/n1     of events those about it, and about what is below it
//     who=NAME            of events those that this person has ordered
//     limit=N             of a list the last so many
//     before=KEY          of a list what stands before this key of it: the page before a page
[[nodiscard]] Response state_answer(const Request& request, const std::string& rest,
                                    const StateView& view, const StateMoment& moment);

}  // namespace fleet
