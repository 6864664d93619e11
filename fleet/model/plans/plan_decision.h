// This file decides what the driver of a plan (the controller that steers it now) does next. A plan
// is a list of steps, which are run by nodes, its members. The decision depends on the plan, on the
// members' own records, and on how long the driver has waited. There are four kinds of steps:
// `any`, `one-at-a-time`, `once` and `together`.
//
//     state of plan and members                   what the driver does
//     all members wait at the first step, and     begins a rollout of fleet-agent to these members,
//     some have a fleet-agent of another version  and waits for its end. If the rollout fails, the
//     than the plan names                         plan stops
//     all members have ended the current step     lets the next step run. After the last step, the
//                                                 plan is completed
//     one-at-a-time: no member has the lock, or   gives the lock to the next member
//     the member that has it waits at the next
//     step
//     once: the step was done for this version    lets all members go on to the next step
//     before
//     once: the step has failed for this version  stops the plan, until a person recovers it
//     before
//     once: the step was not run for this         gives the lock to the first member
//     version, and no member has the lock
//     once: the member that has the lock waits    records that the step is done, and lets all
//     at the next step                            members go on
//     together: all members have stopped their    if the step migrates, gives the lock to one
//     services                                    member, which migrates. Otherwise lets all act
//     together: the migration is done             lets all members act, and lets nodes move to the
//                                                 desired version
//     a member reports an error, or the driver    stops the plan, and records the first error
//     has waited too long
//     the plan stops, and all members have        ends the plan: it is aborted if all members have
//     reported how they have ended                gone back to the old version, otherwise halted
//
// Budgets limit how many nodes may be down at the same time (budgets.h). If the cell has budgets,
// the driver takes a budget place for each member before a step stops the member:
//
// - In a step `any`, it takes places for the next members, as many as may be down together. `lock`
//   then names the last member, in the order of names, that may run the step now.
// - In a step `one-at-a-time` or `once`, it takes places for the member that gets the lock.
// - A step `together` would take all members down at the same time, so the driver stops the plan
//   before such a step. A plan with `over_budget` runs the step, and takes no places at all.
// - If not all places are free, the driver gives back all places of the plan, and the plan waits.
//   It also gives places back when the step is done or the next member gets the lock. A halted plan
//   keeps its places until a person recovers it, since its members may still be stopped.
//
// Each transaction of the driver compares the driver's key and the plan, and writes the plan. If it
// lets members begin something, it also compares that the record `stop` is absent. The exception is
// a step `together` whose members have stopped their services: one may migrate, and all may act,
// since their services would otherwise stay down. A transaction that stops the plan also compares
// the record of the member that has the lock, so the driver knows whether this member has begun to
// act.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/drivers/budgets.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

struct MemberSight {
  PlanMember record = {};
  Revision revision = 0;  // 0 if the node has not written the record yet

  bool operator==(const MemberSight&) const = default;
};

// A desired version of the cell, and the revision of its record.
struct SeenWish {
  Desired desired = {};
  Revision revision = 0;

  bool operator==(const SeenWish&) const = default;
};

// A budget place that the plan has taken.
struct TakenPlace {
  std::string node = {};
  Revision revision = 0;

  bool operator==(const TakenPlace&) const = default;
};

struct PlanView {
  std::string name = {};
  Plan plan = {};
  // The revision of the plan's record; 0 if the plan does not exist.
  Revision revision = 0;
  std::vector<std::string> ids = {};  // the names of the members, sorted
  // The members' own records, by the names of the members.
  std::map<std::string, MemberSight> members = {};
  std::map<std::string, Once> once = {};  // the records once/PLAN/STEP, by the steps' names
  // The rollouts that runs of this plan have begun, by the names of the rollouts.
  std::map<std::string, Rollout> rollouts = {};
  std::map<std::string, TakenPlace> places = {};  // by the keys of the places
  // The cell's desired versions, by component.
  std::map<std::string, SeenWish> wishes = {};
  bool stopped = false;   // the record `stop` exists, so nothing may begin
  Revision restored = 0;  // the revision at which the store was last restored (StoreLife); 0: never
  std::string damage = {};  // why the plan's record cannot be read; empty if it can

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  // Replaces all data of this view by the records in the reading, and ignores records that the plan
  // does not need.
  void take_all(const Reading& reading);

  // Returns the member's own record and its revision, or MemberSight{} if the member has not
  // written the record yet.
  [[nodiscard]] MemberSight member(const std::string& id) const;
  // Returns the members that have not come to this step of the plan yet.
  [[nodiscard]] std::vector<std::string> those_before(std::int64_t step) const;
  // Returns whether the store was restored from a snapshot after the plan's last change. The
  // members may then have done more than the records say, and must not do it again.
  [[nodiscard]] bool is_from_snapshot() const { return revision < restored; }

  bool operator==(const PlanView&) const = default;
};

struct PlanFacts {
  std::string controller = {};
  Revision fence = 0;
  const Budgets* budgets = nullptr;  // the cell's budgets; null: the plan needs no places
  Opening window = {};               // whether the windows let the plan begin
  // `waits_for` and `since` of the last PlanDecision.
  std::string waits_for = {};
  Ms since = 0;
};

struct PlanDecision {
  std::optional<Transaction> transaction = {};
  std::optional<Ms> until = {};
  std::string news = {};
  bool over = false;
  // A string that stands for what the plan waits for, and the time at which this wait began. The
  // caller must put both into the PlanFacts of the next call.
  std::string waits_for = {};
  Ms since = 0;
};

// Returns whether the plan must take a budget place for each member that goes down. `budgets` is
// null if the cell has none.
[[nodiscard]] bool needs_places(const Plan& plan, const Budgets* budgets);
// Returns an error message for people: why the cell's budgets do not allow this step of the plan,
// and how to allow it.
[[nodiscard]] std::string over_budget_text(const std::string& step, const Budgets& budgets);

// Returns the longest time that the plan may take. The plan begins only if the windows of all
// members (their times for upgrades) stay open for that long.
[[nodiscard]] Ms longest(const PlanView& view, const Budgets* budgets);

[[nodiscard]] PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now);

// Adds to the transaction the condition that the plan's desired version does not change. The plan
// has written this version at its beginning, marked as pending, so that no node moves to it yet.
// Adds nothing and returns false if the plan has no component, or if somebody has written another
// desired version since.
[[nodiscard]] bool compare_wish(Transaction& transaction, const PlanView& view);
// Both functions add a write to the transaction. release_wish() removes the mark `pending` from the
// plan's desired version, so that nodes move to it. restore_wish() brings back the desired version
// from before the plan. Both add nothing if somebody has written another desired version since.
void release_wish(Transaction& transaction, const PlanView& view);
void restore_wish(Transaction& transaction, const PlanView& view);

// Returns `plan/NAME`, which is the value of `by` in the record of each budget place that the plan
// has taken.
[[nodiscard]] std::string place_owner(const std::string& plan);

// Returns the transactions that erase all records of the plan's last run, so that the next run
// begins anew. If the plan's desired version is still pending, the first transaction restores the
// desired version from before the plan. Each transaction is small enough for the store, and
// compares the plan's record. The last transaction erases the plan's record. Returns no
// transactions while the plan runs or stops.
[[nodiscard]] std::vector<Transaction> recover_plan(const PlanView& view);

// Returns the transactions that erase the records of a completed or aborted run, to make room for
// the next run of the plan. They keep the records once/PLAN/STEP, which say for which version a
// step of the kind `once` was run. Returns no transactions if the last run has not ended. A person
// has to recover a halted run first.
[[nodiscard]] std::vector<Transaction> make_room(const PlanView& view);

// ---- the rollout with which a plan upgrades fleet-agent on its members

// Before its first step, a plan may upgrade fleet-agent on its members. The plan's driver begins an
// ordinary rollout for this.

// Returns the name of the rollout that upgrades fleet-agent for this plan. The name is different
// for each run of the plan, since it is a part of the ids of commands. If the commands of two runs
// had the same ids, a node would only repeat its answers from the earlier run.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds all records of the rollout to the transaction. The first batch has one node; all other nodes
// follow in batches of the largest size that `budgets` allow. `nodes` must be sorted. Returns false
// if the name is not valid for a rollout, or if the records do not fit into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes,
                                     const Budgets* budgets);

// Returns whether the rollout will begin or is under way. A paused rollout is not under way.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

// Returns whether the plan's rollout of fleet-agent is under way. Until its end, a member that runs
// the new fleet-agent may still go back to the old one.
[[nodiscard]] bool is_agent_under_way(const PlanView& view);

// Returns the members whose fleet-agent has another version than the plan names.
[[nodiscard]] std::vector<std::string> those_of_other_agents(const PlanView& view);

}  // namespace fleet
