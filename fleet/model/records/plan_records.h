// The records of a plan: its steps, its members (the nodes that run the steps), and how far each
// member has come. This file contains only data structures; record_members.h says how the records
// are written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"

namespace fleet {

enum class StepClass { unknown, any, one_at_a_time, once, together };
constexpr auto names(StepClass) {
  return std::to_array<std::string_view>({"unknown", "any", "one-at-a-time", "once", "together"});
}

struct PlanStep {
  std::string name = {};
  StepClass kind = StepClass::unknown;
  std::string hook = {};              // the NAME of the program hooks.d/NAME on the node
  std::int64_t timeout_ms = 600'000;  // the time limit for each wait in the step
  bool migrate = false;  // for `together`: one member runs `migrate` when all have stopped

  bool operator==(const PlanStep&) const = default;
};

enum class PlanState {
  unknown,
  created,  // not all records of the plan are written yet
  running,
  stopping,  // there was an error, and the members end their parts
  halted,    // the plan has failed, and waits for `fleetctl plan recover`
  aborted,   // the plan has failed, and the members work with the old version
  completed,
};
constexpr auto names(PlanState) {
  return std::to_array<std::string_view>(
      {"unknown", "created", "running", "stopping", "halted", "aborted", "completed"});
}

// Returns whether a plan in this state has ended, so that its name is free for another run. A
// halted plan is not free: a person has to recover it first.
constexpr bool is_over(PlanState state) {
  return state == PlanState::completed || state == PlanState::aborted;
}

// The record plan/NAME: what the plan does, its state, and its progress.
struct Plan {
  std::string version = {};  // the version that the plan brings
  // The component whose desired version the plan sets; empty if the plan sets none. The desired
  // version is pending until the plan's migration is done: no node moves to it before.
  std::string component = {};
  std::string digest = {};  // the digest of the component's release
  std::string agent = {};   // the version of fleet-agent that the members need; may be empty
  std::string agent_digest = {};
  std::int64_t soak_ms = 60'000;  // how long a new fleet-agent must work before it is kept
  std::vector<PlanStep> steps = {};
  // The expression that has selected the members. Empty in a record of an earlier version of the
  // program.
  std::string target = {};
  std::int64_t enlisted = 0;  // how many records plan/NAME/member/ID are written
  PlanState state = PlanState::created;
  std::string previous = {};  // the desired version before the plan
  std::string previous_digest = {};
  // The whole record of the desired version from before the plan, even if that version was pending.
  // This list has at most one element. It is empty in a record of an earlier version of the
  // program.
  std::vector<Desired> desired_before = {};
  std::int64_t step = 0;  // the step that may run now, counted from 1; 0: none yet
  bool acting = false;  // in a step `together`: `act` may begin; in a step `once`: the step is done
  bool back = false;    // true: the plan stops before any `act`, and stopped members start again
  // The member that has the lock: only this member may run its hook `act` or `migrate` now. In a
  // step `any`, several members may run at the same time: `lock` is then the last of them, and
  // every member whose name sorts before it may run the step, too.
  std::string lock = {};
  std::string error = {};  // the first error of the run; empty if there was none
  bool ignore_window = false;
  bool over_budget = false;    // takes no places of the cell's budgets (budgets.h)
  std::string waits_for = {};  // what the next step waits for: free places in budgets
  std::string who = {};
  std::string trace = {};
  std::string driver = {};

  bool operator==(const Plan&) const = default;
};

enum class MemberPhase {
  unknown,
  waiting,   // all steps before `step` are done; the member may begin `step` next
  stopped,   // in a step `together`: the hook `stop` has run
  acting,    // the hook `act` or `migrate` has begun
  migrated,  // the hook `migrate` has run, on this member only; all members are still stopped
  halted,    // ended with the plan; if the service was stopped, it stays stopped
  resumed,   // the hook `start` has run: the member works with the old version
  failed,
  rebooting,  // the hook `act` has asked for a reboot; the step continues after the reboot
};
constexpr auto names(MemberPhase) {
  return std::to_array<std::string_view>({"unknown", "waiting", "stopped", "acting", "migrated",
                                          "halted", "resumed", "failed", "rebooting"});
}

// The record plan/NAME/member/ID: the node ID is a member of the plan. The members are chosen when
// the plan is made; a node that joins the cell later is not a member.
struct PlanPlace {
  bool operator==(const PlanPlace&) const = default;
};

// The record node/ID/plan/NAME: how far the node ID has come in the plan. The node itself writes
// this record.
struct PlanMember {
  std::string version = {};
  std::int64_t step = 0;  // the step of the member, counted from 1
  MemberPhase phase = MemberPhase::unknown;
  bool finished = false;  // all steps are done
  bool error = false;
  std::int64_t exit_status = 0;  // the exit status of the hook that failed
  std::string boot = {};         // in the phase `rebooting`: the id of the boot before the reboot
  std::string message = {};

  bool operator==(const PlanMember&) const = default;
};

// The record once/PLAN/STEP: the outcome of a step of the kind `once`, which one member runs for
// all members.
struct Once {
  std::string version = {};
  bool success = false;
  std::string member = {};
  std::string message = {};

  bool operator==(const Once&) const = default;
};

}  // namespace fleet
