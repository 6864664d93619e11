// A plan with its members and its driver, as one value that can be copied, printed and moved on by
// one step. The decision of a driver or member, and its commit, are two steps, so that anything may
// happen between them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/plan_decision.h"
#include "fleet/model/plan_follower.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

enum class Member {
  good,
  says_no,  // the member's hook fails when it is called with `check`
  cannot_stop,
  cannot_act,
  changed_nothing,  // the member's migration fails with status 75
  cannot_migrate,   // the member's migration fails with another status
  silent,
  reboots,  // the member's hook asks for a reboot when it is called with `act`
};

// An error that is put into the driver or a member on purpose. The world's checks must find it.
enum class PlanSeeded { none, no_compares, member_compares_nothing, early, all_act };

struct PlanSetup {
  std::vector<fleet::PlanStep> steps = {};
  std::vector<Member> members = {};
  // How often a driver may die after it has asked for a transaction. Another driver then goes on.
  int driver_kills = 0;
  int member_kills = 0;
  int hastes = 0;  // how often a step's wait may end before its members are done
  // The `once` step that an earlier run has done, or `!STEP` if it failed.
  std::string done_before = {};
  PlanSeeded seeded = PlanSeeded::none;
};

class PlanWorld {
 public:
  explicit PlanWorld(const PlanSetup& setup);

  enum class Move {
    driver_decides,
    driver_commits,
    driver_dies,
    late_arrives,
    member,
    member_dies,
    time_passes
  };
  struct Step {
    Move move = Move::member;
    std::size_t which = 0;
  };
  [[nodiscard]] std::vector<Step> steps() const;
  void make(const Step& step);

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::string wrong_end() const;
  [[nodiscard]] std::string end() const;
  [[nodiscard]] std::string words() const;
  [[nodiscard]] const fleet::Plan& plan() const;
  // Returns the record that the member writes.
  [[nodiscard]] fleet::PlanMember member(std::size_t which) const { return sight(ids_[which]).own; }
  // Returns how often members ran a hook, such as `act 2`.
  [[nodiscard]] int times(const std::string& what) const;

 private:
  struct Node {
    Member nature = Member::good;
    fleet::FollowerFacts facts = {};
    std::optional<fleet::RunHook> running = {};
    std::optional<fleet::WriteMember> pending = {};
    fleet::Plan decided_by = {};  // the plan that the member had read when it decided on `pending`
    bool works = true;            // the member's service is up
    std::map<std::string, int> ran = {};
  };

  [[nodiscard]] fleet::PlanDecision decision() const;
  [[nodiscard]] fleet::PlanSight sight(const std::string& id) const;
  [[nodiscard]] fleet::FollowerStep next_of(const std::string& id) const;
  void driver_decides();
  void driver_commits();
  void member_moves(const std::string& id);
  void commit_member(const std::string& id);
  void begin_hook(const std::string& id, const fleet::RunHook& hook);
  void end_hook(const std::string& id);
  void judge_hook(const std::string& id, const fleet::RunHook& hook);
  void is_wrong(const std::string& what);

  PlanSetup setup_;
  TestStore store_;
  std::map<std::string, Node> nodes_;
  std::vector<std::string> ids_;
  fleet::PlanFacts driver_;
  std::optional<fleet::Transaction> pending_;
  std::vector<fleet::Transaction> late_;
  fleet::Ms now_ = 0;
  std::string wrong_;
  // The plan that was parsed last, and its revision.
  mutable std::pair<fleet::Revision, fleet::Plan> plan_read_;
};

}  // namespace fleet_test
