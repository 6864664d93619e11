// Tests every possible order of events in small plans. A plan is a list of steps for several nodes,
// its members. These plans have two or three members, and steps of each class. Drivers and members
// may be killed, hooks may fail, and members may be silent. No member may be a step ahead of the
// others, and every course of events must end.
#include <catch2/catch.hpp>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/plan_world.h"
#include "tests/together/fleet/walk.h"

namespace plan_explore_test {

namespace {

using namespace fleet_test;
using namespace fleet;
using enum Member;

PlanStep step(StepClass kind, bool migrate = false) {
  static const std::map<StepClass, std::string> names = {{StepClass::any, "a"},
                                                         {StepClass::one_at_a_time, "b"},
                                                         {StepClass::once, "c"},
                                                         {StepClass::together, "d"}};
  return {.name = names.at(kind), .kind = kind, .hook = "h", .migrate = migrate};
}

Walk walk_of(const PlanSetup& setup) {
  return walk(PlanWorld(setup));
}

// Requirements (tests/judging/rows): N-06, N-27, N-29
TEST_CASE("steps of every class end well, though the driver is killed at any of them") {
  const StepClass kind =
      GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::once, StepClass::together);
  const Walk all = walk_of(
      {.steps = {step(kind), step(StepClass::any)}, .members = {good, good}, .driver_kills = 1});
  CHECK(all.outcome() == "completed");
}

TEST_CASE("three members pass three steps, one after the other and together") {
  const Walk all = walk_of({.steps = {step(StepClass::one_at_a_time), step(StepClass::once)},
                            .members = {good, good, good}});
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
}

// Requirements (tests/judging/rows): N-12, N-30
TEST_CASE("a silent member is waited for, and named when the time is over") {
  const StepClass kind = GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::together);
  const Walk all = walk_of({.steps = {step(kind)}, .members = {good, silent}});
  CHECK(all.wrong == "");
  CHECK(all.ends.size() == 1);
  CHECK_FALSE(all.ends.contains("completed"));
}

// Requirements (tests/judging/rows): N-31, N-42 to N-46
TEST_CASE("the first error stops all members at the next step") {
  const StepClass kind =
      GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::once, StepClass::together);
  const Walk all = walk_of({.steps = {step(kind), step(StepClass::any)},
                            .members = {cannot_act, good},
                            .driver_kills = 1});
  CHECK(all.outcome() == "halted");
}

TEST_CASE("a stop at any step holds the plan back, and leaves no service down") {
  const bool migrates = GENERATE(false, true);
  const StepClass kind = migrates ? StepClass::together
                                  : GENERATE(StepClass::any, StepClass::one_at_a_time,
                                             StepClass::once, StepClass::together);
  const Walk all = walk_of(
      {.steps = {step(kind, migrates), step(StepClass::any)}, .members = {good, good}, .stops = 2});
  CHECK(all.outcome() == "completed");
}

// Requirements (tests/judging/rows): N-44
TEST_CASE("a member whose check says no is skipped, and the plan goes on") {
  const Walk all = walk_of({.steps = {step(StepClass::one_at_a_time)}, .members = {says_no, good}});
  CHECK(all.outcome() == "completed");
}

// Requirements (tests/judging/rows): N-38
TEST_CASE(
    "a member that has nothing to do stops with the others, and records each step as they do") {
  const PlanSetup setup{.steps = {step(StepClass::any), step(StepClass::together)},
                        .members = {says_no, good}};
  PlanWorld world(setup);
  for (auto steps = world.steps(); !steps.empty(); steps = world.steps()) {
    world.make(steps.front());
  }
  CHECK(world.end() == "completed");
  CHECK(world.times("act 1") == 1);
  CHECK(world.times("stop 2") == 2);
  const Walk all = walk_of(setup);
  CHECK(all.outcome() == "completed");
}

// Requirements (tests/judging/rows)
TEST_CASE("a member whose act asks for a reboot goes on after the boot, and reboots once") {
  const StepClass kind =
      GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::once, StepClass::together);
  const Walk good_life = walk_of(
      {.steps = {step(kind), step(StepClass::any)}, .members = {reboots, good}, .driver_kills = 1});
  CHECK(good_life.outcome() == "completed");
  // If the member is killed after it has recorded its reboot and before the machine reboots, the
  // reboot never comes. The plan waits for this member, and then halts.
  const Walk killed = walk_of({.steps = {step(kind)}, .members = {reboots}, .member_kills = 1});
  CHECK(killed.wrong == "");
  CHECK(killed.ends.contains("completed"));
  CHECK(killed.ends.contains("halted"));
}

TEST_CASE("if a member cannot stop, all members start again") {
  const Walk all =
      walk_of({.steps = {step(StepClass::together)}, .members = {cannot_stop, good, good}});
  CHECK(all.outcome() == "aborted");
}

TEST_CASE("members that are killed at any step act at most once") {
  const StepClass kind =
      GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::once, StepClass::together);
  const Walk all = walk_of({.steps = {step(kind)}, .members = {good, good}, .member_kills = 1});
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("halted"));
}

// Requirements (tests/judging/rows): J-50 to J-55
TEST_CASE("for a major version all members halt, one migrates, and all go on") {
  const Walk all = walk_of({.steps = {step(StepClass::together, true)},
                            .members = {good, good},
                            .driver_kills = 1,
                            .member_kills = 1});
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
}

TEST_CASE("a wait that ends at any moment stops the plan, and no member acts after the stop") {
  const StepClass kind =
      GENERATE(StepClass::any, StepClass::one_at_a_time, StepClass::once, StepClass::together);
  const bool migrates = GENERATE(false, true);
  if (migrates && kind != StepClass::together) return;
  const Walk all = walk_of(
      {.steps = {step(kind, migrates)}, .members = {good, good}, .driver_kills = 1, .hastes = 1});
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("halted"));
}

TEST_CASE("a failed migration that changed nothing lets all work again, any other halts the plan") {
  const auto [nature, end] = GENERATE(
      table<Member, std::string>({{changed_nothing, "aborted"}, {cannot_migrate, "halted"}}));
  const Walk all = walk_of(
      {.steps = {step(StepClass::together, true)}, .members = {nature, good}, .driver_kills = 1});
  CHECK(all.outcome() == end);
}

TEST_CASE("if a member does not reach the step before the migration, all work again") {
  const Walk all =
      walk_of({.steps = {step(StepClass::together, true)}, .members = {good, cannot_stop}});
  CHECK(all.outcome() == "aborted");
}

// Requirements (tests/judging/rows): N-48, N-50, N-49
TEST_CASE("a step that was done for this version is skipped, and one that failed stops the plan") {
  PlanSetup setup{.steps = {step(StepClass::once)}, .members = {good, good}, .done_before = "c"};
  CHECK(walk_of(setup).ends.contains("completed"));
  setup.done_before = "!c";
  const Walk all = walk_of(setup);
  CHECK(all.outcome() == "halted");
}

TEST_CASE("canaries: an error seeded in driver or member is found") {
  const auto [seeded, kind] =
      GENERATE(table<PlanSeeded, StepClass>({{PlanSeeded::no_compares, StepClass::together},
                                             {PlanSeeded::early, StepClass::any},
                                             {PlanSeeded::all_act, StepClass::together}}));
  CHECK(walk_of({.steps = {step(kind), step(StepClass::any)},
                 .members = {good, good},
                 .driver_kills = 1,
                 .seeded = seeded})
            .wrong != "");
}

TEST_CASE("canary: a member that does not compare the plan acts after it was stopped") {
  CHECK(walk_of({.steps = {step(StepClass::together, true)},
                 .members = {good, good},
                 .hastes = 1,
                 .seeded = PlanSeeded::member_compares_nothing})
            .wrong != "");
}

TEST_CASE("a member that does not report its stop is named, and the others halt without it") {
  PlanView view{.name = "p",
                .plan = {.steps = {step(StepClass::any)},
                         .state = PlanState::stopping,
                         .step = 1,
                         .error = "a: broken"},
                .revision = 4,
                .ids = {"a", "b"}};
  view.members["a"] = {{.step = 1, .phase = MemberPhase::failed, .error = true}, 5};
  view.members["b"] = {{.step = 1, .phase = MemberPhase::acting}, 6};
  const PlanDecision first = decide_plan(view, {}, 0);
  REQUIRE(first.until);
  const PlanDecision last =
      decide_plan(view, {.waits_for = first.waits_for, .since = first.since}, *first.until);
  REQUIRE(last.transaction);
  CHECK_FALSE(why_not_taken(*last.transaction));
  CHECK(last.news ==
        "plan p is halted until recover: a: broken; then waited in vain for b to stop");
}

// Requirements (tests/judging/rows): N-34, N-54
TEST_CASE("recover erases the records of a run, the plan last, and nothing of a running plan") {
  PlanView view{
      .name = "p", .plan = {.state = PlanState::halted}, .revision = 4, .ids = {"a", "b"}};
  const auto parts = recover_plan(view);
  REQUIRE(parts.size() == 1);
  CHECK(words(parts[0]) ==
        "if /fleet/v1/plan/p@4: erase /fleet/v1/node/a/plan/p erase /fleet/v1/node/b/plan/p "
        "erase /fleet/v1/once/p/* erase /fleet/v1/plan/p/* erase /fleet/v1/plan/p");
  view.plan.state = PlanState::running;
  CHECK(recover_plan(view).empty());
}

// Requirements (tests/judging/rows): N-51
TEST_CASE("a completed run is erased before the next, and the records of once stay") {
  PlanView view{
      .name = "p", .plan = {.state = PlanState::completed}, .revision = 4, .ids = {"a", "b"}};
  const auto parts = make_room(view);
  REQUIRE(parts.size() == 1);
  CHECK(words(parts[0]) ==
        "if /fleet/v1/plan/p@4: erase /fleet/v1/node/a/plan/p erase /fleet/v1/node/b/plan/p "
        "erase /fleet/v1/plan/p/* erase /fleet/v1/plan/p");
  view.ids.assign(130, "a");
  CHECK(make_room(view).size() == 2);
  view.plan.state = PlanState::aborted;
  CHECK_FALSE(make_room(view).empty());
  for (const PlanState state : {PlanState::running, PlanState::stopping, PlanState::halted}) {
    view.plan.state = state;
    CHECK(make_room(view).empty());
  }
}

// Requirements (tests/judging/rows): N-11
TEST_CASE("a newcomer that is no member of the plan does nothing") {
  const PlanSight sight{.plan = {.steps = {step(StepClass::any)}, .state = PlanState::running},
                        .revision = 1};
  CHECK(std::holds_alternative<NothingToDo>(follow(sight, {.node = "b", .plan = "p"})));
}

PlanView view_of_agents() {
  PlanView view{.name = "p",
                .plan = {.agent = "2",
                         .agent_digest = "d",
                         .soak_ms = 7,
                         .steps = {step(StepClass::any)},
                         .state = PlanState::running,
                         .trace = "t"},
                .revision = 4,
                .ids = {"a", "b", "c", "d"}};
  for (const std::string id : {"a", "b", "c", "d"}) {
    view.members[id] = {
        {.version = id == "a" ? "2" : "1", .step = 1, .phase = MemberPhase::waiting}, 5};
  }
  return view;
}

TEST_CASE("members whose fleet-agent has another version get the plan's first, by a rollout") {
  PlanView view = view_of_agents();
  const PlanDecision first = decide_plan(view, {}, 0);
  CHECK(first.news == "rollout p.t brings fleet-agent 2 first to b, c, d");
  REQUIRE(first.transaction);
  CHECK_FALSE(why_not_taken(*first.transaction));
  CHECK(words(*first.transaction).find("/fleet/v1/stop@absent") != std::string::npos);
  const auto batch = [&](std::size_t at) {
    return read_record<RolloutBatch>(first.transaction->puts[at].value).value().nodes;
  };
  CHECK(batch(0) == std::vector<std::string>{"b"});
  CHECK(batch(1) == std::vector<std::string>{"c", "d"});
  const Rollout rollout = read_record<Rollout>(first.transaction->puts[2].value).value();
  CHECK(rollout.batches == 2);
  CHECK(rollout.terms.digest == "d");
  CHECK(rollout.terms.soak_ms == 7);
  view.stopped = true;
  CHECK_FALSE(decide_plan(view, {}, 0).transaction);
}

// Requirements (tests/judging/rows): H-22
TEST_CASE("a member whose fleet-agent differs only in its build metadata has the plan's version") {
  PlanView view = view_of_agents();
  for (auto& [id, member] : view.members)
    member.record.version = "2+b7";

  CHECK(decide_plan(view, {}, 0).news == "step 1 may run");
}

TEST_CASE("a plan waits for the rollout of its fleet-agent, and until the members are back") {
  PlanView view = view_of_agents();
  const auto next = [&](RolloutState state) {
    view.rollouts["p.t"] = {.state = state, .reason = "1 failed"};
    return decide_plan(view, {}, 0);
  };
  for (const RolloutState state : {RolloutState::rolling, RolloutState::paused,
                                   RolloutState::aborting, RolloutState::completed}) {
    CHECK_FALSE(next(state).transaction);
  }
  // Before its first step, the plan has begun a rollout that upgrades fleet-agent on the members.
  // While this rollout runs, the plan waits without a time limit, since every rollout ends by
  // itself.
  CHECK_FALSE(next(RolloutState::rolling).until);
  const PlanDecision waits = next(RolloutState::completed);
  REQUIRE(waits.until);
  CHECK(
      decide_plan(view, {.waits_for = waits.waits_for, .since = waits.since}, *waits.until).news ==
      "plan p stops: waited in vain for b, c, d to come back with fleet-agent 2");
  CHECK(next(RolloutState::aborted).news ==
        "plan p stops: fleet-agent 2 has not come to b, c, d: rollout p.t: 1 failed");
  for (auto& [id, member] : view.members)
    member.record.version = "2";
  // All members report the new version. But the rollout still runs, and may bring members back to
  // the old version. So the plan must wait for the rollout's end.
  CHECK_FALSE(next(RolloutState::rolling).transaction);
  CHECK(next(RolloutState::completed).news == "step 1 may run");
}

TEST_CASE("a member that is back with another version records it until the first step begins") {
  const Plan plan{.agent = "2", .steps = {step(StepClass::any)}, .state = PlanState::running};
  PlanSight sight{.takes_part = true,
                  .plan = plan,
                  .revision = 1,
                  .own = {.version = "1", .step = 1, .phase = MemberPhase::waiting},
                  .own_revision = 2};
  const FollowerFacts facts{.node = "a", .plan = "p", .version = "2"};
  const FollowerStep again = follow(sight, facts);
  REQUIRE(std::holds_alternative<WriteMember>(again));
  CHECK(std::get<WriteMember>(again).member.version == "2");
  sight.plan.step = 1;
  CHECK(std::holds_alternative<RunHook>(follow(sight, facts)));
}

TEST_CASE("while there is a stop no step begins, and stopped members go on") {
  PlanView view{.name = "p",
                .plan = {.steps = {step(StepClass::together)}, .state = PlanState::running},
                .revision = 4,
                .ids = {"a"},
                .stopped = true};
  view.members["a"] = {{.step = 1, .phase = MemberPhase::waiting}, 5};
  CHECK_FALSE(decide_plan(view, {}, 0).transaction);
  view.plan.step = 1;
  view.members["a"].record.phase = MemberPhase::stopped;
  CHECK(decide_plan(view, {}, 0).transaction);
}

TEST_CASE("a plan that stood in the snapshot of a restored store is halted, wherever it was") {
  const auto kind = GENERATE(StepClass::any, StepClass::together, StepClass::once);
  PlanView view{.name = "p",
                .plan = {.steps = {step(kind)}, .state = PlanState::running, .step = 1},
                .revision = 4,
                .ids = {"a"},
                .stopped = true};
  view.members["a"] = {{.step = 1, .phase = MemberPhase::stopped}, 5};
  const Epoch epoch{.number = 7, .accepted = true, .begins = 6};
  view.take({.key = key_of(KeyKind::epoch), .value = write_record(epoch), .modified = 9});

  const PlanDecision stops = decide_plan(view, {}, 0);
  REQUIRE(stops.transaction);
  REQUIRE(stops.transaction->puts.size() == 1);
  const Plan plan = read_record<Plan>(stops.transaction->puts.front().value).value();
  CHECK(plan.state == PlanState::stopping);
  CHECK_FALSE(plan.back);
  CHECK(plan.error == "the store was restored, and nobody knows how far the plan had come");

  view.take({.key = key_of(KeyKind::plan, {"p"}), .value = write_record(plan), .modified = 10});
  view.members["a"] = {{.step = 1, .phase = MemberPhase::halted}, 11};
  CHECK(decide_plan(view, {}, 0).news.starts_with("plan p is halted until recover"));
  view.take_absent(key_of(KeyKind::epoch));
  CHECK(view.restored == 0);
}

TEST_CASE("the states of plans that were walked are reported") {
  // If no other test of this program was run, there are no figures to report.
  if (states_walked == 0) return;
  report("make explore-fleet", std::to_string(states_walked) + " states of plans",
         "every order of events, to a fixpoint, nothing wrong");
}

}  // namespace

}  // namespace plan_explore_test
