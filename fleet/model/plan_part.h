// A member's part in one plan, as a state machine around plan_follower.h. Runs one hook or writes
// one transaction at a time, and knows what this process itself has begun.
//
// If the answer to a transaction was lost or has not come yet, the next sight of the record tells
// whether it was written: only the acting instance writes this record, so a record that has the
// contents that were sent was written by that transaction.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "fleet/model/plan_follower.h"

namespace fleet {

// ---- events

// The records of the store, as they were seen.
struct PlanSeen {
  PlanSight sight = {};
  Revision as_of = 0;   // the revision at which the member's own record was read
  Revision active = 0;  // by which this instance acts; 0 if it does not act
};
struct HookEnded {
  int status = 0;
  std::string output = {};  // the last line of its output
};
struct MemberWritten {
  Outcome outcome = {};
};
using PlanPartEvent = std::variant<PlanSeen, HookEnded, MemberWritten>;

class PlanPart {
 public:
  // `version` is the version of this fleet-agent.
  PlanPart(std::string node, std::string plan, std::string version, std::string boot = "");

  // Returns the hook or transaction to begin now; HookEnded or MemberWritten tells its end. While
  // an outcome is unknown, returns nothing to do until the store has been read again.
  [[nodiscard]] FollowerStep step(const PlanPartEvent& event);

  [[nodiscard]] bool is_busy() const { return running_ || pending_; }

 private:
  void take(const PlanSeen& event);
  void take(const HookEnded& event);
  void take(const MemberWritten& event);
  void take_own(const PlanMember& own, Revision revision, bool is_ours);
  [[nodiscard]] FollowerStep next();

  // The revisions of the plan and of the member's record on which a decision was made.
  using Basis = std::pair<Revision, Revision>;

  FollowerFacts facts_;
  PlanSight sight_;
  std::optional<RunHook> running_;
  bool outdated_ = false;  // the member's record has changed since the running hook was begun
  std::optional<WriteMember> pending_;
  Basis decided_on_ = {};              // the basis of `pending_`
  std::optional<PlanMember> unknown_;  // the record that was sent, and got no answer
  bool looks_ = false;                 // waits for a reading that tells the outcome of `unknown_`
  std::optional<Basis> refused_;       // the basis of the last transaction that was refused
  Revision written_ = 0;  // when the member's record was written; older readings are outdated
  Revision as_of_ = 0;    // when the member's record was read last
};

}  // namespace fleet
