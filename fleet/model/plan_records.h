// The records of a plan: its steps, its members, and how far each member is. Plain data;
// record_members.h says how records are written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

enum class StepClass { unknown, any, one_at_a_time, once, together };
constexpr auto names(StepClass) {
  return std::to_array<std::string_view>({"unknown", "any", "one-at-a-time", "once", "together"});
}

struct PlanStep {
  std::string name = {};
  StepClass kind = StepClass::unknown;
  std::string hook = {};              // the file hooks.d/NAME on the node
  std::int64_t timeout_ms = 600'000;  // the limit for each wait of the step
  bool migrate = false;  // for `together`: when all have stopped, one member runs `migrate` for all

  bool operator==(const PlanStep&) const = default;
};

enum class PlanState {
  unknown,
  created,  // not all of its records are written yet
  running,
  stopping,  // an error was recorded; members stop at their next step
  halted,    // the plan has failed; a person has to `recover` it
  aborted,   // the plan has failed and changed nothing: all members work again
  completed,
};
constexpr auto names(PlanState) {
  return std::to_array<std::string_view>(
      {"unknown", "created", "running", "stopping", "halted", "aborted", "completed"});
}

// Returns whether a plan in this state has ended so that its name is free for another run. A halted
// plan has not: a person has to recover it first.
constexpr bool is_over(PlanState state) {
  return state == PlanState::completed || state == PlanState::aborted;
}

// The record plan/NAME.
struct Plan {
  std::string version = {};  // the version that the plan brings; `once` records name it, too
  // For a plan to a major version: the component whose desired version is held back.
  std::string component = {};
  std::string digest = {};  // of the component's release
  std::string agent = {};   // the version that each fleet-agent must have; empty if any will do
  std::string agent_digest = {};
  std::int64_t soak_ms = 60'000;  // the soak of the rollout that brings fleet-agent
  std::vector<PlanStep> steps = {};
  std::int64_t enlisted = 0;  // how many members are written: see PlanPlace
  PlanState state = PlanState::created;
  std::string previous = {};  // for a major version: the component's desired version before
  std::string previous_digest = {};
  std::int64_t step = 0;   // the step that may run, from 1; 0 if none may yet
  bool acting = false;     // for `together`: `act` may begin; for `once`: the step is done
  bool back = false;       // the plan stops before any `act` has begun: stopped members start again
  std::string lock = {};   // for one-at-a-time, once, and a migration: the member whose turn it is
  std::string error = {};  // the first error
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};
  std::string driver = {};

  bool operator==(const Plan&) const = default;
};

enum class MemberPhase {
  unknown,
  waiting,   // the member waits at this step: all steps before it are done
  stopped,   // for `together`: the member's `stop` has run
  acting,    // `act` or `migrate` has begun
  migrated,  // the member has migrated for all, and is still stopped
  halted,    // the plan has stopped by an error; a service that is stopped stays so
  resumed,   // `start` has run again: the member works with the old version
  failed,
  rebooting,  // `act` has asked for a reboot; the member goes on after the boot
};
constexpr auto names(MemberPhase) {
  return std::to_array<std::string_view>({"unknown", "waiting", "stopped", "acting", "migrated",
                                          "halted", "resumed", "failed", "rebooting"});
}

// The record plan/NAME/member/ID: the node takes part. It is written with the plan, and not changed
// until both are erased. A node that is enrolled later is not a member.
struct PlanPlace {
  bool operator==(const PlanPlace&) const = default;
};

// The record node/ID/plan/NAME: how far the member is. Only the node writes it.
struct PlanMember {
  std::string version = {};
  std::int64_t step = 0;  // the step at which the member is, from 1
  MemberPhase phase = MemberPhase::unknown;
  bool finished = false;  // all steps are done
  bool error = false;
  std::int64_t exit_status = 0;  // the exit status of the hook that failed
  std::string boot = {};         // while the member reboots: the id of the boot before
  std::string message = {};

  bool operator==(const PlanMember&) const = default;
};

// The record once/PLAN/STEP: the outcome of a step that one member has done for all.
struct Once {
  std::string version = {};
  bool success = false;
  std::string member = {};
  std::string message = {};

  bool operator==(const Once&) const = default;
};

}  // namespace fleet
