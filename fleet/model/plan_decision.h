// Decides the next step of a plan's driver from the plan, the members' own records, and the time
// that the driver has waited.
//
//     state of plan and members                   what the driver writes
//     all wait at the first step, and some have   a rollout of fleet-agent to these members. The
//     a fleet-agent of another version than the   plan waits for the rollout's end, and stops if
//     plan names                                  the rollout fails
//     all wait at the next step                   the next step may run. After the last step, the
//                                                 plan is completed
//     one-at-a-time: nobody has the lock          the next member gets the lock
//     one-at-a-time: the lock's holder waits at   the next member gets the lock
//     the next step
//     once: was done for this version before      all members go on to the next step
//     once: has failed for this version before    the plan stops, until a person recovers it
//     once: neither, and nobody has the lock      the first member gets the lock
//     once: the lock's holder waits at the next   the step is done, and all members go on
//     step
//     together: all have stopped their services   if the step migrates, one member gets the lock
//                                                 and migrates. Otherwise all may act
//     together: the migration is done             all may act, and nodes may move to the desired
//                                                 version
//     a member reports an error, or the time for  the plan stops, and records the first error
//     a wait is over
//     all have reported that they have stopped    aborted if all have gone back, otherwise halted
//     for a plan that stops
//
// If the cell has budgets (budgets.h), the driver takes places for members before a step stops
// them. In a step `any`, it takes places for as many of the next members as the budgets allow to be
// down together. In other steps, it takes places for the next holder of the lock. If some members
// of a step `any` have to run it later than others, `lock` names the last member, in the order of
// names, that may run the step now. If not all of these places are free, the driver gives back the
// places that the plan already has, and the plan waits. Places are given back when the step is done
// or the next member gets the lock. A halted plan keeps its places until a person recovers it,
// since its members may still be stopped. A step `together` would take all members down at the same
// time. So the driver stops the plan before such a step, unless the plan has `over_budget`: then it
// takes no places at all.
//
// Every transaction compares the driver's key and the plan, and writes the plan. A transaction that
// lets members begin something also compares that the record `stop` is absent. There is one
// exception. If the members of a step `together` have stopped their services already, they may act
// even if `stop` exists, since their services would be down while they wait. A transaction that
// stops the plan compares the record of the lock's holder, so that the driver knows whether the
// holder has begun to act.
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

// A desired version of the cell, with the revision of its record.
struct SeenWish {
  Desired desired = {};
  Revision revision = 0;

  bool operator==(const SeenWish&) const = default;
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
  // The budget places that the plan has taken: for the key of each place, the node for which it was
  // taken.
  std::map<std::string, std::string> places = {};
  // The cell's desired versions, by their components.
  std::map<std::string, SeenWish> wishes = {};
  bool stopped = false;     // true if the record `stop` exists, so that nothing may begin
  std::string damage = {};  // why the plan's record cannot be read

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  // Replaces all data of this view by the records in the reading: the plan's record and the records
  // below it, the records once/PLAN/STEP of the plan, each member's own record about the plan, and
  // other records that matter, such as the plan's budget places.
  void take_all(const Reading& reading);

  // Returns the member's own record and its revision. Returns MemberSight{} if the member has not
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
  // what the plan waits for, as the last PlanDecision said
  std::string waits_for = {};
  Ms since = 0;
};

struct PlanDecision {
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};
  std::string news = {};
  bool over = false;
  // Identifies what the plan waits for now. The caller must put `waits_for` and `since` into the
  // PlanFacts of the next call.
  std::string waits_for = {};
  Ms since = 0;  // when this wait began
};

// Returns whether the plan must take a budget place for each member that goes down. `budgets`,
// which limit how many nodes may be down at the same time, is null if the cell has none.
[[nodiscard]] bool needs_places(const Plan& plan, const Budgets* budgets);
// Returns an error message: why the cell's budgets do not allow this step of the plan, and what a
// person can change to allow the step.
[[nodiscard]] std::string over_budget_text(const std::string& step, const Budgets& budgets);

// Returns the longest time that the plan may take. The plan begins only if the windows of all
// members stay open for that long.
[[nodiscard]] Ms longest(const PlanView& view, const Budgets* budgets);

[[nodiscard]] PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now);

// Returns whether the store still has the desired version that the plan has written at its
// beginning and has marked as pending, so that no node moves to it. If so, adds to the transaction
// the condition that this desired version does not change. Returns false if the plan has no
// component, or if a person or another plan has written a different desired version since.
[[nodiscard]] bool compare_wish(Transaction& transaction, const PlanView& view);
// Both functions add to the transaction the write that ends the pending state of the plan's desired
// version. release_wish() removes the mark `pending`, so nodes move to the version. restore_wish()
// brings back the desired version from before the plan. If the store has a different desired
// version by now, both add no write: the different one was ordered later, and stays.
void release_wish(Transaction& transaction, const PlanView& view);
void restore_wish(Transaction& transaction, const PlanView& view);

// Returns `plan/NAME`. In the record of each budget place that the plan has taken, the member `by`
// has this value.
[[nodiscard]] std::string place_owner(const std::string& plan);

// Returns the transactions that erase all records of a run of the plan, so that the next run begins
// anew. The run must be halted, must have ended, or must be one whose records were not all written.
// If the plan's desired version is still pending, the first transaction restores the desired
// version from before the plan. Each transaction is small enough for the store and compares the
// plan's record, and the last transaction erases this record. Returns no transactions if the run
// still goes on.
[[nodiscard]] std::vector<Transaction> recover_plan(const PlanView& view);

// Returns the transactions that erase the records of an ended run, to make room for the next run of
// the same name. Keeps the records once/PLAN/STEP: each says for which version a step of the kind
// `once` was run. Returns no transactions if the last run still goes on or is halted. A person has
// to recover a halted run first.
[[nodiscard]] std::vector<Transaction> make_room(const PlanView& view);

// ---- the rollout with which a plan upgrades fleet-agent on its members

// Before its first step, a plan may upgrade fleet-agent on its members. It does so with an ordinary
// rollout, except that the plan's driver begins this rollout, and not a person.

// Returns the name of the rollout that upgrades fleet-agent for this plan. The name is a part of
// the ids of commands. Each run of the plan has a different name for its rollout. If the rollouts
// of two runs had the same name, their commands would have the same ids, and a node would only
// repeat its answer from the earlier run.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds all records of the rollout to the transaction. The first batch has one node; all other nodes
// follow in batches of the largest size. `nodes` must be sorted. Returns false if the name is not
// valid for a rollout, or if the records do not fit into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// Returns whether the rollout will begin or is under way. A paused rollout is not under way.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

// Returns whether the plan's rollout of fleet-agent is under way. During the rollout, a member that
// runs the new fleet-agent has it on trial, and may still go back to the old one.
[[nodiscard]] bool is_agent_under_way(const PlanView& view);

// Returns the members whose fleet-agent has another version than the plan names.
[[nodiscard]] std::vector<std::string> those_of_other_agents(const PlanView& view);

}  // namespace fleet
