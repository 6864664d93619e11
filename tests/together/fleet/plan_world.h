// A plan with its members and its driver as a single value. An exploration copies this value, and
// makes one step at a time with each copy. A decision of a driver or member is one step, and the
// commit of its transaction is a second step, so that other events may happen between the two.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/agent/plan_follower.h"
#include "fleet/model/plans/plan_decision.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

enum class Member {
  good,
  says_no,  // the hook's `check` fails
  cannot_stop,
  cannot_act,
  changed_nothing,  // the hook's `migrate` fails with status 75
  cannot_migrate,   // the hook's `migrate` fails otherwise
  silent,
  reboots,  // the hook's `act` asks for a reboot
};

// A bug that is injected into the driver or into a member of the plan. The checks of the
// exploration must find this bug.
enum class PlanSeeded { none, no_compares, member_compares_nothing, early, all_act };

struct PlanSetup {
  std::vector<fleet::PlanStep> steps = {};
  std::vector<Member> members = {};
  // How often a driver may die between its decision on a transaction and the commit. A new driver
  // then takes over, and the dead driver's transaction arrives late.
  int driver_kills = 0;
  int member_kills = 0;
  int hastes = 0;  // how often a step may time out early
  int stops = 0;   // how often the person may write the record `stop`
  // The name of a step of the class `once` that an earlier run of the plan has done, or `!NAME` if
  // the step failed in that run. Such a step is done only once, even if the plan is run again.
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
    time_passes,
    person_stops,
    person_lets_go
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
  // Returns the record in which the member reports its progress.
  [[nodiscard]] fleet::PlanMember member(std::size_t which) const { return sight(ids_[which]).own; }
  // Returns how often members of the plan have called their hook with one verb in one step. `what`
  // names both: `act 2`, for example, is the verb `act` in step 2.
  [[nodiscard]] int times(const std::string& what) const;

 private:
  struct Node {
    Member nature = Member::good;
    fleet::FollowerFacts facts = {};
    std::optional<fleet::RunHook> running = {};
    std::optional<fleet::WriteMember> pending = {};
    // The plan that the member had read when it decided on the write `pending`.
    fleet::Plan decided_by = {};
    bool works = true;  // the member's service is up
    std::map<std::string, int> ran = {};
  };

  [[nodiscard]] fleet::PlanDecision decision() const;
  [[nodiscard]] fleet::PlanSight sight(const std::string& id) const;
  [[nodiscard]] fleet::FollowerStep next_of(const std::string& id) const;
  void driver_decides();
  void driver_commits();
  void judge_stop();
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
  // The last parsed record of the plan, and its revision, so that the same record is not parsed
  // twice.
  mutable std::pair<fleet::Revision, fleet::Plan> plan_read_;
};

}  // namespace fleet_test
