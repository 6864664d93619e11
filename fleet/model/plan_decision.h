// The next step of a plan's driver, decided from the plan, the members' own records, and how
// long it has waited.
//
//     what has come true                          what it writes
//     all wait at the first step, and some have   a rollout of fleet-agent to these; it is waited
//     another fleet-agent than it names           for, and where it fails the plan stops
//     all wait at the next step                   that step may run; behind the last: completed
//     one-at-a-time: nobody has the lock          the next member gets it
//     its holder waits at the next step           the next member gets it
//     once: done for this version before          everybody goes on
//     once: failed for this version before        the plan stops, until `recover`
//     once: its holder waits at the next step     that it is done, and everybody goes on
//     together: all have stopped                  one gets the lock and migrates, or all may act
//     the migration is done                       all may act; the desired version is released
//     a member says error, or a wait is over      the plan stops, with the first error in words
//     it stops, and all have said so              aborted where all went back, otherwise halted
//
// Every transaction compares the driver's key and the plan, and writes the plan. One that lets
// something begin compares that `stop` is absent. One that stops the plan compares the record of
// the lock's holder, so that it is known whether that has begun to act.
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
  Revision revision = 0;  // 0 if it has recorded nothing

  bool operator==(const MemberSight&) const = default;
};

struct PlanView {
  std::string name = {};
  Plan plan = {};
  Revision revision = 0;                            // 0 if the plan is not there
  std::vector<std::string> ids = {};                // who takes part, sorted
  std::map<std::string, MemberSight> members = {};  // what they have recorded
  std::map<std::string, Once> once = {};            // by step
  std::map<std::string, Rollout> rollouts = {};     // that plans of this name have begun
  bool stopped = false;                             // `stop` is there
  std::string damage = {};                          // why the plan cannot be read

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  // Everything anew, of keys below the plan, its `once`, and the nodes.
  void take_all(const Reading& reading);

  bool operator==(const PlanView&) const = default;
};

struct PlanFacts {
  std::string controller = {};
  Revision fence = 0;
  Opening window = {};         // whether the plan may begin now
  std::string waits_for = {};  // what is waited for since when; made by decide_plan
  Ms since = 0;
};

struct PlanDecision {
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};
  std::string news = {};
  bool over = false;
  std::string waits_for = {};  // to be given back in PlanFacts
  Ms since = 0;
};

// How long it takes at most: it begins only where it can end inside all its members' windows.
[[nodiscard]] Ms longest(const PlanView& view);

[[nodiscard]] PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now);

// Erases the records that a failed run left, or a completed one, so that the next begins anew. In
// parts that a store takes, of which each compares the plan and the last erases it. No part if it
// still runs.
[[nodiscard]] std::vector<Transaction> recover_plan(const PlanView& view);

// The same for a run after which nobody is halted, before the next: what was done once for a
// version stays done. No part if it still runs, or is to be recovered first.
[[nodiscard]] std::vector<Transaction> make_room(const PlanView& view);

}  // namespace fleet
