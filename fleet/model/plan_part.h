// Executes a node's part in one plan, as a state machine around the decisions of plan_follower.h.
// Runs one hook or writes one transaction at a time, and remembers what this process itself has
// begun.
//
// If the answer to a transaction was lost, the next reading of the member's record shows whether
// the transaction was committed. Only the acting instance writes this record. So if the record has
// the contents that were sent, the transaction was committed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "fleet/model/plan_follower.h"

namespace fleet {

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
using PlanPartEvent = std::variant<PlanSeen, HookEnded, MemberWritten>;

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
  void take_own(const PlanMember& own, Revision revision, bool is_ours);
  [[nodiscard]] FollowerStep next();

  // The records on which a decision was made: the revisions of the plan and of the member's record.
  using Basis = std::pair<Revision, Revision>;

  FollowerFacts facts_;
  PlanSight sight_;
  std::optional<RunHook> running_;
  bool outdated_ = false;  // the member's record has changed while the hook runs
  std::optional<WriteMember> pending_;
  Basis decided_on_ = {};              // the revisions on which the write in `pending_` was decided
  std::optional<PlanMember> unknown_;  // the record in a transaction whose outcome is unknown
  bool looks_ = false;            // true: waits for a reading that shows the outcome of `unknown_`
  std::optional<Basis> refused_;  // the records on which a refused write was decided
  // Revision of this process's last write. A reading from before this revision is outdated.
  Revision written_ = 0;
  Revision as_of_ = 0;  // revision of the last reading of the member's record
};

}  // namespace fleet
