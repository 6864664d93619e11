// Makes texts of status.json for tests. Each describes an upgrader at rest, except for the changes
// that a test makes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the time `seconds` after 2026-11-22 08:00 UTC, which is the present time in these tests.
inline Moment at(int seconds) {
  return *parse_moment("2026-11-22T08:00:00Z") + std::chrono::seconds{seconds};
}

inline Status at_rest() {
  Status status;
  status.upgrader = {4020, "0.1.0", "2026-11-22T08:00:00.000Z", at(0), 1};
  status.phase = "running";
  status.since = at(1);
  status.active = AgentStatus{.generation = 1,
                              .role = "first",
                              .pid = 4021,
                              .version = "1.0",
                              .executable = "/opt/agent/1.0",
                              .args = {"--input=app.log"},
                              .args_omitted = false,
                              .started = at(0),
                              .activated = at(1),
                              .status = "",
                              .silent = false};
  return status;
}

inline UpgradeStatus upgrade_called(std::string id) {
  UpgradeStatus upgrade;
  upgrade.id = std::move(id);
  upgrade.origin = "control";
  upgrade.accepted = at(10);
  upgrade.trial_ms = 30'000;
  return upgrade;
}

inline Ending ending_of(std::string id, std::string outcome, std::string stage = "",
                        std::string reason = "") {
  Ending ending;
  ending.id = std::move(id);
  ending.origin = "control";
  ending.outcome = std::move(outcome);
  ending.stage = std::move(stage);
  ending.reason = std::move(reason);
  ending.from = {"1.0", "/opt/agent/1.0"};
  ending.to = {"1.1", "/opt/agent/1.1"};
  ending.accepted = at(10);
  ending.ended = at(42);
  ending.start_ms = 412;
  return ending;
}

}  // namespace upgraderctl
