// Sample records: the larger records that a node and its driver write, with a value for each
// member.
#pragma once

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"

namespace fleet {

inline const Capsule full_capsule{.stage = "trial",
                                  .reason = "r",
                                  .exit_status = 3,
                                  .signal = 11,
                                  .lived_ms = 4,
                                  .peak_kib = 5,
                                  .cpu_ms = 6,
                                  .lines = {"a"},
                                  .differs = {"b"}};
inline const Instance full_instance{.version = "1.0.0",
                                    .phase = "running",
                                    .boot_id = "b",
                                    .since = "2026-01-01T00:00:00Z",
                                    .last_command = "r1.apply.1",
                                    .ready = true,
                                    .degraded = "no disk",
                                    .generation = 4,
                                    .machine = "m"};
inline const Upgrade full_upgrade{.phase = UpgradePhase::failed,
                                  .attempt = "r1.apply.1",
                                  .error = "e",
                                  .from = "1",
                                  .to = "2",
                                  .began = "x",
                                  .changed = "y",
                                  .evidence = {full_capsule}};
inline const Desired full_desired{.version = "2",
                                  .digest = "d",
                                  .why = "w",
                                  .pending = true,
                                  .pinned = true,
                                  .downgrade = true,
                                  .ignore_window = true,
                                  .who = "anna",
                                  .trace = "t",
                                  .refused = "r",
                                  .previous = "1",
                                  .previous_refused = "p"};
inline const Command full_command{.id = "r1.apply.2",
                                  .action = CommandAction::apply,
                                  .version = "1.1.0",
                                  .digest = "d",
                                  .instance = "i",
                                  .not_after_ms = 1,
                                  .soak_ms = 1,
                                  .confirm_ms = 1,
                                  .deadline_ms = 2,
                                  .delay_ms = 3,
                                  .reason = "r",
                                  .downgrade = true,
                                  .undo = true,
                                  .trace = "t",
                                  .judged = true};
inline const NodeHealth full_health{
    .run = "r1.apply.2",
    .version = "2",
    .boot_id = "b",
    .instance = "i",
    .sequence = 3,
    .before = 1,
    .ends = 4,
    .unhealthy = 5,
    .fallbacks = 6,
    .over = true,
    .trouble = "t",
    .measures = {{"errors", MeasureType::counter, MeasureWorse::up, "7", "2"}}};
inline const ControlWatch full_control_watch{"rollout/r1", "r1.control.1", 60'000};

}  // namespace fleet
