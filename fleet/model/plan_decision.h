// Decides the next step of a plan's driver from the plan, the members' own records, and the time
// that the driver has waited.
//
//     state of plan and members                   what the driver writes
//     all wait at the first step, and some have   a rollout of fleet-agent to these members, for
//     another fleet-agent than the plan names     which the plan waits; if it fails, the plan stops
//     all wait at the next step                   that step may run; after the last: completed
//     one-at-a-time: nobody has the lock          the next member gets the lock
//     the lock's holder waits at the next step    the next member gets the lock
//     once: was done for this version before      all members go on to the next step
//     once: has failed for this version before    the plan stops, until a person recovers it
//     once: the holder waits at the next step     the step is done, and all members go on
//     together: all have stopped                  one gets the lock and migrates, or all may act
//     the migration is done                       all may act; the desired version is released
//     a member reports an error, or the time for  the plan stops, with the first error as a text
//     a wait is over
//     the plan stops, and all have reported it    aborted if all went back, otherwise halted
//
// If the cell has budgets (budgets.h), members take places before a step stops them. In a step
// `any`, as many of the next members take places as there are free places; in other steps, the next
// holder of the lock does. If some members of `any` have to come later, `lock` names the last
// member, in the order of names, that may run the step. A driver that cannot have all these places
// gives back those that it has, and the plan waits. Places are given back when the step is done or
// the next member gets the lock. A halted plan keeps its places until a person recovers it, since
// its members may still be stopped. A step `together` would stop all members, so it stops the plan,
// unless the plan is `over_budget`; such a plan takes no places at all.
//
// Every transaction compares the driver's key and the plan, and writes the plan. A transaction that
// lets members begin something also compares that `stop` is absent, unless the members have stopped
// their services for the step already: they would be down while they wait. A transaction that stops
// the plan compares the record of the lock's holder, so that the driver knows whether the holder
// has begun to act.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/budgets.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"
#include "fleet/model/windows.h"

namespace fleet {

struct MemberSight {
  PlanMember record = {};
  Revision revision = 0;  // 0 if the node has not written the record yet

  bool operator==(const MemberSight&) const = default;
};

struct PlanView {
  std::string name = {};
  Plan plan = {};
  // The revision of the plan's record; 0 if the plan does not exist.
  Revision revision = 0;
  std::vector<std::string> ids = {};  // the names of the members, sorted
  // The members' own records, by the names of the members.
  std::map<std::string, MemberSight> members = {};
  std::map<std::string, Once> once = {};  // records of steps that were done once, by step
  // The rollouts that plans of this name have begun, by the names of the rollouts.
  std::map<std::string, Rollout> rollouts = {};
  // The places of budgets that the plan has: their keys, and the node of each.
  std::map<std::string, std::string> places = {};
  bool stopped = false;     // true if the record `stop` exists, so that nothing may begin
  std::string damage = {};  // why the plan's record cannot be read

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  // Replaces all members by the records in the reading: the records below the plan, its `once`
  // records, and each member's own record about the plan.
  void take_all(const Reading& reading);

  // Returns what was read of a member's own record. Returns MemberSight{} if the member has not
  // written its record yet.
  [[nodiscard]] MemberSight member(const std::string& id) const;
  // Returns the members that have not reached this step of the plan yet.
  [[nodiscard]] std::vector<std::string> those_before(std::int64_t step) const;

  bool operator==(const PlanView&) const = default;
};

struct PlanFacts {
  std::string controller = {};
  Revision fence = 0;
  const Budgets* budgets = nullptr;  // the cell's budgets; null: the plan needs no places
  Opening window = {};               // whether the windows let the plan begin
  // what the plan waits for, from the last PlanDecision
  std::string waits_for = {};
  Ms since = 0;
};

struct PlanDecision {
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};
  std::string news = {};
  bool over = false;
  // The reason why the plan waits. The caller passes it in with the next PlanFacts.
  std::string waits_for = {};
  Ms since = 0;
};

// Returns whether the members of this plan need places of budgets. `budgets` is null if the cell
// has no budgets.
[[nodiscard]] bool needs_places(const Plan& plan, const Budgets* budgets);
// Returns why the budgets of the cell do not allow this step of the plan, and what a person could
// change to allow it.
[[nodiscard]] std::string over_budget_text(const std::string& step, const Budgets& budgets);

// Returns the longest time that the plan may take. The plan begins only if the windows of all
// members stay open for that long.
[[nodiscard]] Ms longest(const PlanView& view, const Budgets* budgets);

[[nodiscard]] PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now);

// Returns `plan/NAME`: the name of the plan in the records of its places of budgets.
[[nodiscard]] std::string place_owner(const std::string& plan);

// Returns the transactions that erase all records of a halted or ended run of the plan, so that the
// next run begins anew. Each transaction is small enough for the store and compares the plan's
// record, and the last one erases this record. Returns no transactions if the run still goes on.
[[nodiscard]] std::vector<Transaction> recover_plan(const PlanView& view);

// Returns the transactions that erase the records of an ended run, to make room for the next run of
// the same name. Keeps the records once/PLAN/STEP, which say which steps were done once for a
// version. Returns no transactions if the last run still goes on, or if it is halted: a person has
// to recover a halted run first.
[[nodiscard]] std::vector<Transaction> make_room(const PlanView& view);

// ---- the rollout of fleet-agent

// Upgrades fleet-agent on the members of a plan, before the plan's first step. This is done by a
// rollout like any other, except that the plan's driver begins it.

// Returns the name of the rollout that upgrades fleet-agent for this plan. The name is a part of
// the ids of commands. It differs for each run of the plan: nodes would answer a command with the
// same id by the answer of the earlier run.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds all records of the rollout to the transaction. The first batch has one node; the others
// follow in batches of the largest size. `nodes` must be sorted. Returns false if the name is not
// valid for a rollout, or if the records do not fit into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// Returns whether the rollout will begin or is under way. A paused rollout is not under way.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

// Returns whether the plan's rollout of fleet-agent is under way. As long as it is, a member that
// runs the new fleet-agent has it on trial, and may go back to the old one.
[[nodiscard]] bool is_agent_under_way(const PlanView& view);

// Returns the members whose version of fleet-agent is not the one that the plan names.
[[nodiscard]] std::vector<std::string> those_of_other_agents(const PlanView& view);

}  // namespace fleet
