// A member's part in one plan, as a state machine around plan_follower.h: runs one hook or writes
// one transaction at a time, and knows what this process itself has begun.
//
// Whether a transaction whose answer was lost, or is on its way still, was written is told by the
// next sight of the record: nobody but the instance that acts writes it, so a record that has
// changed to what was sent was changed by that.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "fleet/model/plan_follower.h"

namespace fleet {

// ---- events

// The records of the store.
struct PlanSeen {
  PlanSight sight = {};
  Revision as_of = 0;   // the revision at which its own record was read
  Revision active = 0;  // by which this instance acts; 0: it does not
};
struct HookEnded {
  int status = 0;
  std::string output = {};  // its last line
};
struct MemberWritten {
  Outcome outcome = {};
};
using PlanPartEvent = std::variant<PlanSeen, HookEnded, MemberWritten>;

class PlanPart {
 public:
  // `version` is that of this fleet-agent.
  PlanPart(std::string node, std::string plan, std::string version, std::string boot = "");

  // The deed to be begun now; its end is told by HookEnded or MemberWritten. While an outcome is
  // unknown there is none, until the store has been looked at again.
  [[nodiscard]] FollowerStep step(const PlanPartEvent& event);

  [[nodiscard]] bool is_busy() const { return running_ || pending_; }

 private:
  void take(const PlanSeen& event);
  void take(const HookEnded& event);
  void take(const MemberWritten& event);
  void take_own(const PlanMember& own, Revision revision, bool is_ours);
  [[nodiscard]] FollowerStep next();

  using Basis = std::pair<Revision, Revision>;  // of the plan, and of its own record

  FollowerFacts facts_;
  PlanSight sight_;
  std::optional<RunHook> running_;
  bool outdated_ = false;  // its record has changed since the hook that runs was begun
  std::optional<WriteMember> pending_;
  Basis decided_on_ = {};              // that of `pending_`
  std::optional<PlanMember> unknown_;  // sent, and no answer came
  bool looks_ = false;                 // for what came of that, before anything else
  std::optional<Basis> refused_;       // on what the last that was refused was decided
  Revision written_ = 0;  // its own record was written then: what was read before is old
  Revision as_of_ = 0;    // when its own record was read last
};

}  // namespace fleet
