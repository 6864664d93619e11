// A plan is a list of steps; the nodes that run them are its members. In each step, a member runs
// hooks, which are programs on the node. `follow()` decides what a member does next, from the plan,
// the member's own record, and the hooks that this process has already run for the step. `PlanPart`
// carries the decision out.
//
// There are four kinds of steps: `any`, `one-at-a-time`, `once` and `together`. If the plan runs,
// and is at the member's step, the member does the following:
//
//     phase         what the member does
//     no record     writes its record, with the version of its fleet-agent. Writes the record again
//                   if fleet-agent is upgraded before the first step
//     waiting       `any`: runs the hook `check`, then acts
//                   `one-at-a-time`: runs the hook `check` when it has the lock, then acts
//                   `once`: acts when it has the lock
//                   `together`: runs the hook `stop`, and then has the phase `stopped`
//     stopped       acts when the plan allows it. In a step that migrates, the member that has the
//                   lock migrates first
//     acting        runs the hooks `act`, `start` (only in a step `together`) and `post`, and then
//                   waits at the next step. A member that migrates runs only the hook `migrate`,
//                   and then has the phase `migrated`
//     migrated      acts when the plan allows it
//
// - Before a member acts, a transaction records the phase `acting`. It compares that the plan is
//   unchanged, and that this instance (process) of fleet-agent acts for the node. So if the plan
//   stops at this moment, the store refuses the transaction, and the member does not begin.
// - If fleet-agent is killed while the member acts, the next process reports `interrupted`. In any
//   other phase, the next process repeats the work of the phase.
// - If `check` ends with a status from 1 to 125, the member skips the step. If `check` cannot be
//   run, or is killed, the step fails.
// - The hook `act` asks for a reboot by the exit status 76. The member records the phase
//   `rebooting` with the id of the current boot, and orders the reboot once. A later process in the
//   same boot only waits. After the reboot, the member runs `start` (in a step `together`) and
//   `post`.
// - After the store was restored from a snapshot, a running plan may have gone further than its
//   records say. Its members do nothing until a controller stops the plan.
// - When the plan stops, a member in the phase `acting` first runs its remaining hooks. If a step
//   `together` stops before any hook `act` has begun, each member runs `start`, and has the phase
//   `resumed`: its service runs again. All other members leave their services as they are, and have
//   the phase `halted`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The exit status by which the hook `migrate` reports that it has failed and changed nothing. Any
// other failure may have changed something.
inline constexpr int exit_nothing_changed = 75;
// The exit status by which the hook `act` asks for a reboot. After the boot, the hook `post` runs.
inline constexpr int exit_reboot_required = 76;
// As in shells, an exit status of at least this number means that a hook could not be run or was
// killed.
inline constexpr int exit_not_run = 126;

enum class HookVerb { check, stop, act, start, post, migrate, reboot };
[[nodiscard]] std::string_view text_of(HookVerb verb);

// The facts about a member of a plan: about its node, and about the hooks that this process has
// run.
struct FollowerFacts {
  std::string node = {};
  std::string plan = {};
  std::string version = {};  // the version of the node's fleet-agent
  std::string boot = {};     // the id of this boot of the machine
  Revision active = 0;       // revision of the record `active`; 0 if it does not name this instance
  // The exit statuses of the hooks that this process has already run in the member's current step
  // and phase.
  std::map<HookVerb, int> done = {};
  bool began_to_act = false;  // this process itself has written the phase `acting` or `rebooting`
  std::string output = {};    // the last line of the last hook's output
};

struct RunHook {
  std::string hook = {};
  HookVerb verb = HookVerb::check;
  std::string step = {};     // the name of the plan's step
  std::string version = {};  // the version that the plan brings
  Ms timeout_ms = 0;         // the time limit, after which the hook is killed

  bool operator==(const RunHook&) const = default;
};
struct WriteMember {
  Transaction transaction = {};
  PlanMember member = {};

  bool operator==(const WriteMember&) const = default;
};
struct NothingToDo {
  bool operator==(const NothingToDo&) const = default;
};
using FollowerStep = std::variant<NothingToDo, RunHook, WriteMember>;

struct PlanSight {
  bool takes_part = false;
  Plan plan = {};
  Revision revision = 0;
  PlanMember own = {};  // the member's own record, as the store has it
  Revision own_revision = 0;
  Revision restored = 0;  // the revision at which the store was last restored (StoreLife); 0: never
};

// Returns what the member does next. Called when a hook has ended, the outcome of a transaction is
// known, or a record has changed, but never while a hook runs. When the member's step or phase
// changes, the caller clears `done`, and sets `began_to_act` anew.
[[nodiscard]] FollowerStep follow(const PlanSight& sight, const FollowerFacts& facts);

// ---- the member's part

// ---- events

// The plan's records, as read from the store.
struct PlanSeen {
  PlanSight sight = {};
  Revision as_of = 0;   // the revision at which the member's own record was read
  Revision active = 0;  // revision of the record `active`; 0 if it does not name this instance
};
struct HookEnded {
  int status = 0;
  std::string output = {};  // the last line of the hook's output
};
struct MemberWritten {
  Outcome outcome = {};
};
// The store has denied a transaction, and the pause after that is over. After this event, the
// caller must send PlanSeen with the current records.
struct PauseEnded {};
using PlanPartEvent = std::variant<PlanSeen, HookEnded, MemberWritten, PauseEnded>;

// Executes a node's part in one plan, as a state machine around the decisions of `follow()`. Begins
// one hook or one transaction at a time, and remembers which phases this process itself has begun.
//
// - Unknown outcome of a transaction: no other instance writes the member's record, so the next
//   reading of this record shows whether the transaction was committed.
// - Refused transaction: a compared record has changed. The decision is made again when this change
//   arrives.
// - Denied transaction, for example because the store is full: no change may arrive, so the caller
//   waits for a while, and then sends PauseEnded.
class PlanPart {
 public:
  // `version` is the version of this fleet-agent.
  PlanPart(std::string node, std::string plan, std::string version, std::string boot = "");

  // Returns the hook or transaction that the caller must begin now. When it has ended, the caller
  // sends HookEnded or MemberWritten. If the outcome of a transaction is unknown, returns
  // NothingToDo until the store has been read again.
  [[nodiscard]] FollowerStep step(const PlanPartEvent& event);

  [[nodiscard]] bool is_busy() const { return running_ || pending_; }

 private:
  void take(const PlanSeen& event);
  void take(const HookEnded& event);
  void take(const MemberWritten& event);
  void take(const PauseEnded& event);
  void take_own(const PlanMember& own, Revision revision, bool is_ours);
  [[nodiscard]] FollowerStep next();

  // The revisions of the records on which a decision is based. A transaction compares these
  // revisions.
  struct Basis {
    Revision plan = 0;
    Revision own = 0;
    Revision active = 0;

    bool operator==(const Basis&) const = default;
  };

  FollowerFacts facts_;
  PlanSight sight_;
  std::optional<RunHook> running_;
  bool outdated_ = false;  // the step or phase has changed since the running hook began
  std::optional<WriteMember> pending_;
  Basis decided_on_ = {};              // the revisions on which the write in `pending_` is based
  std::optional<PlanMember> unknown_;  // the record in a transaction whose outcome is unknown
  bool looks_ = false;                 // true: decide nothing before the next reading of the store
  // The revisions on which the last write was based, if the store has refused or denied it. Decide
  // again when one of these revisions has changed, or after the event PauseEnded.
  std::optional<Basis> refused_;
  // The revision of this process's last write. A reading at an earlier revision is outdated.
  Revision written_ = 0;
  Revision as_of_ = 0;  // revision of the last reading of the member's record
};

}  // namespace fleet
