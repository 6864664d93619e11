// Reads from the store what holds back a rollout or plan: see fleet/model/reasons/held.h.
#pragma once

#include <variant>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/reasons/held.h"

namespace fleetctl {

// Returns whether `cell` contains the record of a stop, by which a person has stopped the cell.
[[nodiscard]] bool is_stopped(const fleet::Reading& cell);

// Returns what the rollout waits for: a controller that drives it, the end of a stop, or the
// windows of its next nodes. `own` has the rollout's records. `cell` has the records of the stop,
// the controllers and the drivers.
[[nodiscard]] fleet::Held held_rollout(const std::string& id, const fleet::Rollout& rollout,
                                       const fleet::Reading& own, const fleet::Reading& cell,
                                       const fleet::WindowView& windows);
// Returns what the plan waits for. `cell` has all records of the store.
[[nodiscard]] fleet::Held held_plan(const fleet::PlanView& plan, const fleet::Reading& cell,
                                    const fleet::WindowView& windows);

// Reads the records that held_rollout() needs from the cell, and calls held_rollout(). If the store
// cannot be read, prints the reason, and returns the exit status.
[[nodiscard]] std::variant<fleet::Held, int> find_held(Asker& asker, const std::string& id,
                                                       const fleet::Rollout& rollout,
                                                       const fleet::Reading& reading);

}  // namespace fleetctl
