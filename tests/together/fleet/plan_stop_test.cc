// Tests how the driver of a plan ends the plan: whether members that have stopped their services
// may start them again, when a wait is over, and which records the plan leaves. The explorations
// (plan_explore_test.cc) walk through whole plans.
#include <catch2/catch.hpp>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace plan_stop_test {

namespace {

using namespace fleet;

// A running plan of one step with the members m and n, and its driver. The test writes the members'
// records, and moves the clock.
struct Bench : fleet_test::DriverBench<PlanDriver> {
  explicit Bench(StepClass kind, bool migrate = false) : DriverBench(PlanDriver("c1", "p", 100)) {
    const PlanStep step{
        .name = "s", .kind = kind, .hook = "h", .timeout_ms = 10'000, .migrate = migrate};
    for (const char* id : {"m", "n"})
      store.put(key_of(KeyKind::plan_member, {"p", id}), write_record(PlanPlace{}));
    store.put(own(),
              write_record(Plan{.version = "2", .steps = {step}, .state = PlanState::running}));
    begin();
    both({.step = 1, .phase = MemberPhase::waiting});
  }

  static std::string own() { return key_of(KeyKind::plan, {"p"}); }
  void member(const std::string& id, const PlanMember& record) {
    put(key_of(KeyKind::node_plan, {id, "p"}), write_record(record));
  }
  void both(const PlanMember& record) {
    member("m", record);
    member("n", record);
  }
  void wait(Ms time) {
    now += time;
    tell(KeptAlive{});
    settle();
  }
  Plan plan() const { return read_record<Plan>(store.find(own())->value).value(); }
  std::optional<Once> once() const {
    const KeyValue* found = store.find(key_of(KeyKind::once, {"p", "s"}));
    return found == nullptr ? std::nullopt : std::optional(read_record<Once>(found->value).value());
  }
};

const PlanMember stopped{.step = 1, .phase = MemberPhase::stopped};
const PlanMember acting{.step = 1, .phase = MemberPhase::acting};
const PlanMember broken{
    .step = 1, .phase = MemberPhase::failed, .error = true, .message = "broken"};

// Returns a plan whose members have stopped their services. The member m has the lock, and may
// migrate their data.
Bench before_migration() {
  Bench bench(StepClass::together, true);
  bench.both(stopped);
  REQUIRE(bench.plan().lock == "m");
  return bench;
}

TEST_CASE("no stopped member starts again if one has begun to migrate when the plan stops") {
  const bool has_begun = GENERATE(false, true);
  Bench bench = before_migration();
  if (has_begun) bench.member("m", acting);
  bench.member("n", broken);
  CHECK(bench.plan().state == PlanState::stopping);
  CHECK(bench.plan().error == "n: broken");
  CHECK(bench.plan().back != has_begun);
}

TEST_CASE("no stopped member starts again if one begins to migrate while the stop is written") {
  Bench bench = before_migration();
  const std::string other = key_of(KeyKind::node_plan, {"n", "p"});
  bench.store.put(other, write_record(broken));
  bench.tell(KeyChanged{*bench.store.find(other)});
  REQUIRE(bench.asked.size() == 1);
  const std::string key = key_of(KeyKind::node_plan, {"m", "p"});
  bench.store.put(key, write_record(acting));
  bench.settle();
  CHECK(bench.plan().state == PlanState::running);

  bench.tell(KeyChanged{*bench.store.find(key)});
  bench.settle();
  CHECK(bench.plan().state == PlanState::stopping);
  CHECK_FALSE(bench.plan().back);
}

TEST_CASE("a migration that takes longer than its step may stops the plan") {
  Bench bench = before_migration();
  bench.member("m", acting);
  bench.wait(9'999);
  CHECK(bench.plan().state == PlanState::running);
  bench.wait(1);
  CHECK(bench.plan().state == PlanState::stopping);
  CHECK(bench.plan().error == "waited in vain for m to migrate");
}

TEST_CASE("a plan that goes back is aborted if all members work again, and halted otherwise") {
  const auto [last, state] = GENERATE(std::pair(MemberPhase::resumed, PlanState::aborted),
                                      std::pair(MemberPhase::halted, PlanState::halted));
  Bench bench = before_migration();
  bench.member("n", broken);
  REQUIRE(bench.plan().back);
  bench.member("m", {.step = 1, .phase = last});
  bench.member("n", {.step = 1, .phase = MemberPhase::resumed});
  CHECK(bench.plan().state == state);
}

TEST_CASE("a step that was done once for all is recorded, and stays done if its member fails") {
  Bench bench(StepClass::once);
  CHECK(bench.plan().lock == "m");
  CHECK_FALSE(bench.once());
  bench.member("m", {.step = 2, .phase = MemberPhase::waiting, .message = "new schema"});
  const Once done{.version = "2", .success = true, .member = "m", .message = "new schema"};
  CHECK(bench.once() == done);

  bench.member("m", {.step = 2, .phase = MemberPhase::failed, .error = true, .message = "full"});
  CHECK(bench.plan().state == PlanState::stopping);
  CHECK(bench.once() == done);
}

TEST_CASE("a step for all that fails is recorded as failed") {
  Bench bench(StepClass::once);
  bench.member("m", broken);
  CHECK(bench.once() == Once{.version = "2", .member = "m", .message = "m: broken"});
}

TEST_CASE("a plan that is erased ends its driver, and is not written again") {
  Bench bench(StepClass::one_at_a_time);
  bench.erase(Bench::own());
  CHECK(bench.driver.is_over());
  CHECK(bench.told.back() == "plan p is not driven any longer: it is not there");
  bench.both({.step = 2, .phase = MemberPhase::waiting});
  CHECK(bench.store.find(Bench::own()) == nullptr);
}

TEST_CASE("a plan goes on when a person lifts the stop") {
  Bench bench(StepClass::one_at_a_time);
  bench.put(key_of(KeyKind::stop), "{}");
  bench.member("m", {.step = 2, .phase = MemberPhase::waiting});
  CHECK(bench.plan().lock == "m");
  bench.erase(key_of(KeyKind::stop));
  CHECK(bench.plan().lock == "n");
}

TEST_CASE("a person may recover a plan that does not run") {
  PlanView view{.name = "p", .revision = 4, .ids = {"m"}};
  for (const PlanState state :
       {PlanState::created, PlanState::halted, PlanState::aborted, PlanState::completed}) {
    view.plan.state = state;
    CHECK_FALSE(recover_plan(view).empty());
  }
  for (const PlanState state : {PlanState::running, PlanState::stopping}) {
    view.plan.state = state;
    CHECK(recover_plan(view).empty());
  }
}

TEST_CASE("a plan waits for the rollout of its fleet-agent until that has ended or is paused") {
  using enum RolloutState;
  for (const RolloutState state : {created, rolling, baking, aborting, undoing})
    CHECK(is_under_way(Rollout{.state = state}));
  for (const RolloutState state : {paused, completed, aborted, undone})
    CHECK_FALSE(is_under_way(Rollout{.state = state}));
}

}  // namespace

}  // namespace plan_stop_test
