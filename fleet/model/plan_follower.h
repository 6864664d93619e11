// `follow()` decides what a member of a plan does next, and `PlanPart` carries that out. A member
// is a node that takes part in the plan. The decision depends on the plan, on the member's own
// record, and on the hooks that this process has run for the step. The kind of a step is `any`,
// `one-at-a-time`, `once` or `together`.
//
//     phase         what the member does while the plan runs, if the plan is at the member's step
//     no record     writes its record, with the version of its fleet-agent. Writes the record again
//                   if fleet-agent is upgraded before the first step
//     waiting       `any`: runs the hook `check`, then acts
//                   `one-at-a-time`: does the same, when it has the lock
//                   `once`: acts when it has the lock
//                   `together`: runs `stop`, and then has the phase `stopped`
//     stopped       acts when the plan allows it. The member that has the lock migrates first
//     acting        runs `act` (in a step `together` also `start`) and `post`, and then waits at
//                   the next step. A member that migrates runs only `migrate`, and then has the
//                   phase `migrated`
//     migrated      acts when the plan allows it
//
// Before a member acts, it records the phase `acting`. The transaction compares that the plan is
// unchanged and that this instance acts for the node. So if the plan stops at this moment, the
// store refuses the transaction, and the member does not begin. If fleet-agent is killed while the
// member acts, the next process reports `interrupted`. If fleet-agent is killed in any other phase,
// the next process does the work of that phase again. If `check` ends with a status from 1 to 125,
// the member skips the step. If `check` cannot be run, or is killed, the step fails.
//
// If the hook `act` exits with status 76, it asks for a reboot. The member records the phase
// `rebooting`, with the id of the current boot. The process that has written this record orders the
// reboot, once. If a later process finds this record in the same boot, it waits for the reboot that
// was ordered, and does not order a second one. After the reboot, the member runs the hooks `start`
// (in a step `together`) and `post`.
//
// When the plan stops, a member in the phase `acting` finishes its hooks first. If the plan stops
// in a step `together` before any `act` has begun, each member runs `start`, and then has the phase
// `resumed`: its service runs again. Every other member leaves its service as it is, and has the
// phase `halted`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/model/plan_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The exit status by which the hook `migrate` reports that it has failed and changed nothing. Any
// other failure may have changed something.
inline constexpr int exit_nothing_changed = 75;
// The exit status by which the hook `act` asks for a reboot. After the boot, the hook `post` runs.
inline constexpr int exit_reboot_required = 76;
// An exit status of at least this number means, as in shells, that a hook could not be run or was
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
  bool began_to_act = false;  // this process has written the current phase, `acting` or `rebooting`
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
};

// Returns what the member does next. The caller calls it when a hook has ended, the outcome of a
// transaction is known, or a record has changed, but never while a hook runs. When the step or
// phase in the member's record changes, the caller clears `done`. The caller then also sets
// `began_to_act`: to true if a transaction of this process has written the phase `acting` or
// `rebooting`, otherwise to false.
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
// The pause after a transaction that the store has denied is over. The caller then has to send
// PlanSeen, with the records as they are now.
struct PauseEnded {};
using PlanPartEvent = std::variant<PlanSeen, HookEnded, MemberWritten, PauseEnded>;

// Executes a node's part in one plan, as a state machine around the decisions of `follow()`. Orders
// one hook or one transaction at a time, and remembers which phases this process itself has begun.
//
// If the answer to a transaction was lost, the next reading of the member's record shows whether
// the transaction was committed. Only the instance that acts for the node writes this record. So if
// the record has the contents of the lost transaction, that transaction was committed.
//
// If the store has refused or denied a transaction, the same transaction is not sent again at once.
// After Refused, one of the compared records has changed, and the change will arrive soon. After
// Denied, for example because the store is full, there may be no change: the caller waits for a
// while, and then sends PauseEnded.
class PlanPart {
 public:
  // `version` is the version of this fleet-agent.
  PlanPart(std::string node, std::string plan, std::string version, std::string boot = "");

  // Returns the hook or transaction to begin now. The event HookEnded or MemberWritten reports its
  // end. While the outcome of a transaction is unknown, returns NothingToDo until the store has
  // been read again.
  [[nodiscard]] FollowerStep step(const PlanPartEvent& event);

  [[nodiscard]] bool is_busy() const { return running_ || pending_; }

 private:
  void take(const PlanSeen& event);
  void take(const HookEnded& event);
  void take(const MemberWritten& event);
  void take(const PauseEnded& event);
  void take_own(const PlanMember& own, Revision revision, bool is_ours);
  [[nodiscard]] FollowerStep next();

  // The revisions of the records on which a decision is based. If the decision is a transaction, it
  // compares these revisions.
  struct Basis {
    Revision plan = 0;
    Revision own = 0;
    Revision active = 0;

    bool operator==(const Basis&) const = default;
  };

  FollowerFacts facts_;
  PlanSight sight_;
  std::optional<RunHook> running_;
  bool outdated_ = false;  // the member's record has changed since the hook began
  std::optional<WriteMember> pending_;
  Basis decided_on_ = {};              // the revisions on which the write in `pending_` was decided
  std::optional<PlanMember> unknown_;  // the record in a transaction whose outcome is unknown
  bool looks_ = false;                 // true: decides nothing before the next reading
  // If the store has refused or denied the last write: the revisions on which that write was
  // decided. Nothing more is decided until one of them has changed or the event PauseEnded has
  // come.
  std::optional<Basis> refused_;
  // Revision of this process's last write. A reading from before this revision is outdated.
  Revision written_ = 0;
  Revision as_of_ = 0;  // revision of the last reading of the member's record
};

}  // namespace fleet
