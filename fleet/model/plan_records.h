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

// plan/NAME.
struct Plan {
  std::string version = {};    // what it brings, which `once` remembers
  std::string component = {};  // upgraded first, where a version of it is named
  std::vector<PlanStep> steps = {};
  std::vector<std::string> members = {};  // frozen when it began, sorted
  PlanState state = PlanState::created;
  bool major = false;      // a new major version: all halted, migrated once, released
  std::int64_t step = 0;   // the step that may run, from 1; 0: none yet
  bool acting = false;     // of `together`: everybody has stopped, so `act` may begin
  std::string lock = {};   // of `one-at-a-time` and `once`: the member whose turn it is
  std::string error = {};  // the first
  std::string who = {};
  std::string trace = {};
  std::string driver = {};

  bool operator==(const Plan&) const = default;
};

enum class MemberPhase {
  unknown,
  waiting,   // at the step's barrier: all before it is done
  stopped,   // of `together`: its `stop` has run
  acting,    // `act` has begun
  finished,  // the step is done
  skipped,   // the step had nothing to do here
  halted,    // stopped by somebody's error
  resumed,   // `start` has run again: at work on the old version
  failed,
};
constexpr auto names(MemberPhase) {
  return std::to_array<std::string_view>({"unknown", "waiting", "stopped", "acting", "finished",
                                          "skipped", "halted", "resumed", "failed"});
}

// node/ID/plan/NAME: written by the member alone; plan/NAME/member/ID: the driver's copy for those
// who may not read the node's.
struct PlanMember {
  std::string version = {};
  std::int64_t step = 0;  // the step that it is at, from 1
  MemberPhase phase = MemberPhase::unknown;
  bool finished = false;  // all steps
  bool error = false;
  std::int64_t exit_status = 0;  // of the hook that failed
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
