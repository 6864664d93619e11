// Decides the next step of a plan's driver from the plan, the members' own records, and the time
// that the driver has waited.
//
//     state of plan and members                   what the driver writes
//     all wait at the first step, and some have   a rollout of fleet-agent to these members, for
//     another fleet-agent than the plan names     which the plan waits; if it fails, the plan stops
//     all wait at the next step                   that step may run; after the last: completed
//     one-at-a-time: nobody has the lock          the next member gets the lock
//     the lock's holder waits at the next step    the next member gets the lock
//     once: done for this version before          all members go on
//     once: failed for this version before        the plan stops, until `recover`
//     once: the holder waits at the next step     the step is done, and all members go on
//     together: all have stopped                  one gets the lock and migrates, or all may act
//     the migration is done                       all may act; the desired version is released
//     a member reports an error, or a wait is     the plan stops, with the first error in words
//     over
//     the plan stops, and all have reported it    aborted if all went back, otherwise halted
//
// Every transaction compares the driver's key and the plan, and writes the plan. A transaction that
// lets something begin compares that `stop` is absent. A transaction that stops the plan compares
// the record of the lock's holder, so that it is known whether the holder has begun to act.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"
#include "fleet/model/window_view.h"

namespace fleet {

struct MemberSight {
  PlanMember record = {};
  Revision revision = 0;  // 0 if the member has recorded nothing

  bool operator==(const MemberSight&) const = default;
};

struct PlanView {
  std::string name = {};
  Plan plan = {};
  Revision revision = 0;                            // 0 if the plan does not exist
  std::vector<std::string> ids = {};                // the members, sorted
  std::map<std::string, MemberSight> members = {};  // the members' own records
  std::map<std::string, Once> once = {};            // by the name of the step
  std::map<std::string, Rollout> rollouts = {};  // the rollouts that plans of this name have begun
  bool stopped = false;                          // the record `stop` exists
  std::string damage = {};                       // why the plan's record cannot be read

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  // Replaces everything by the reading, which has the keys below the plan, its `once`, and the
  // nodes.
  void take_all(const Reading& reading);

  bool operator==(const PlanView&) const = default;
};

struct PlanFacts {
  std::string controller = {};
  Revision fence = 0;
  Opening window = {};         // whether the plan may begin now
  std::string waits_for = {};  // what is waited for, since `since`; decide_plan() makes both
  Ms since = 0;
};

struct PlanDecision {
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};
  std::string news = {};
  bool over = false;
  std::string waits_for = {};  // the caller passes this and the next member back in PlanFacts
  Ms since = 0;
};

// Returns the longest time that the plan may take: it begins only if it can end inside all its
// members' windows.
[[nodiscard]] Ms longest(const PlanView& view);

[[nodiscard]] PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now);

// Returns the transactions that erase the records of a failed or completed run, so that the next
// run begins anew. Each of them is small enough for the store, compares the plan, and the last one
// erases it. Returns none if the run still goes on.
[[nodiscard]] std::vector<Transaction> recover_plan(const PlanView& view);

// Returns the transactions that erase the records of the last run, so that the next run can begin.
// The records once/PLAN/STEP, of steps that were done once for a version, stay. Returns none if the
// last run still goes on, or is halted and has to be recovered first.
[[nodiscard]] std::vector<Transaction> make_room(const PlanView& view);

}  // namespace fleet
