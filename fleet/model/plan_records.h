// The records of a plan: its steps, its members, and how far each is. Plain data; how they are
// written is in record_members.h.
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
  std::string hook = {};              // hooks.d/NAME on the node
  std::int64_t timeout_ms = 600'000;  // each wait of the step
  bool migrate = false;  // of `together`: when all have stopped, one member runs `migrate` for all

  bool operator==(const PlanStep&) const = default;
};

enum class PlanState {
  unknown,
  created,  // not all of it is written yet
  running,
  stopping,  // an error was recorded; members stop at their next barrier
  halted,    // it has failed; `recover` comes next
  aborted,   // it has failed, and nothing had been changed: everybody is back at work
  completed,
};
constexpr auto names(PlanState) {
  return std::to_array<std::string_view>(
      {"unknown", "created", "running", "stopping", "halted", "aborted", "completed"});
}

// Whether a plan in this state has ended so that its name is free for another run. A halted plan
// has not: a person has to recover it first.
constexpr bool is_over(PlanState state) {
  return state == PlanState::completed || state == PlanState::aborted;
}

// plan/NAME.
struct Plan {
  std::string version = {};    // what it brings, which `once` remembers
  std::string component = {};  // of a major version: the one whose desired version is held back
  std::string digest = {};     // of the component's release
  std::string agent = {};      // the version that every member's fleet-agent must have
  std::string agent_digest = {};
  std::int64_t soak_ms = 60'000;  // of the rollout that brings it
  std::vector<PlanStep> steps = {};
  std::int64_t enlisted = 0;  // how many members are written: see PlanPlace
  PlanState state = PlanState::created;
  std::string previous = {};  // of a major version: what the component's desired one was before
  std::string previous_digest = {};
  std::int64_t step = 0;  // the step that may run, from 1; 0: none yet
  bool acting = false;    // together: `act` may begin; once: it is done
  bool back = false;  // it stops, and nobody's `act` has begun: who has stopped is to start again
  std::string lock = {};   // of one-at-a-time, once, and a migration: whose turn it is
  std::string error = {};  // the first
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};
  std::string driver = {};

  bool operator==(const Plan&) const = default;
};

enum class MemberPhase {
  unknown,
  waiting,   // at the step's barrier: all before it is done
  stopped,   // of `together`: its `stop` has run
  acting,    // `act` or `migrate` has begun
  migrated,  // of the one who migrated for all: still stopped
  halted,    // stopped by somebody's error; what it had stopped stays stopped
  resumed,   // `start` has run again: at work on the old version
  failed,
  rebooting,  // `act` has asked for that; it goes on after the boot
};
constexpr auto names(MemberPhase) {
  return std::to_array<std::string_view>({"unknown", "waiting", "stopped", "acting", "migrated",
                                          "halted", "resumed", "failed", "rebooting"});
}

// plan/NAME/member/ID: that the node takes part. Written with the plan, and not changed until both
// are erased: who is enrolled later is no member.
struct PlanPlace {
  bool operator==(const PlanPlace&) const = default;
};

// node/ID/plan/NAME: how far the member is, written by the node alone.
struct PlanMember {
  std::string version = {};
  std::int64_t step = 0;  // the step that it is at, from 1
  MemberPhase phase = MemberPhase::unknown;
  bool finished = false;  // all steps
  bool error = false;
  std::int64_t exit_status = 0;  // of the hook that failed
  std::string boot = {};         // of one that reboots: the boot before that
  std::string message = {};

  bool operator==(const PlanMember&) const = default;
};

// once/PLAN/STEP: what came of a step that one member did for all.
struct Once {
  std::string version = {};
  bool success = false;
  std::string member = {};
  std::string message = {};

  bool operator==(const Once&) const = default;
};

}  // namespace fleet
