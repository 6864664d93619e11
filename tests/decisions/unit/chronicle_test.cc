// Tests the chronicle, which records the past of the upgrader for status.json. The first tests are
// about events in an unexpected order, and events of agents and upgrades that the chronicle does
// not know. The other tests are about times: when an event of each kind first happened, and how
// long each part of an upgrade took.
#include "upgrader/core/chronicle.h"

#include <catch2/catch.hpp>
#include <utility>

#include "tests/decisions/unit/status_bench.h"

namespace chronicle_test {

// ---- events that reach the chronicle in an odd order

namespace {

using namespace upgrader;
using namespace upgrader::test;

const Stamp now{1'000, 1'000};

Agent agent_of(Generation generation) {
  Agent agent;
  agent.generation = generation;
  agent.greeted = true;
  return agent;
}

const AgentPast* past(const Chronicle& chronicle) {
  return chronicle.find(1);
}

}  // namespace

TEST_CASE("of a request's upgrade it is known that it is under way, and how it ended") {
  StatusBench bench;
  bench->reach(Phase::trial);
  CHECK(bench.chronicle().what_became_of("u1") == "under way");
  CHECK(bench.chronicle().what_became_of("u2") == "");

  bench->say(2, agent_protocol::Healthy{});

  CHECK(bench.chronicle().what_became_of("u1") == "committed");
}

TEST_CASE("why the upgrader ends is what was noted first") {
  Chronicle chronicle;
  chronicle.note_why_it_ends("told to stop");
  chronicle.note_why_it_ends("told to quit");
  chronicle.note_end(0, now);

  CHECK(chronicle.end()->reason == "told to stop");
}

TEST_CASE("only what an agent that has greeted says of itself is its status") {
  StatusBench bench;
  bench->start();
  bench->say(1, agent_protocol::Status{"too early"});
  CHECK(past(bench.chronicle())->status == "");

  bench->hello(1);
  bench->say(1, agent_protocol::Status{"reading"});

  CHECK(past(bench.chronicle())->status == "reading");
}

TEST_CASE("a process that was not noted is not shown, and nothing is lost") {
  Chronicle chronicle;
  State state;
  state.incumbent = agent_of(1);
  state.candidate = agent_of(2);
  state.upgrade.emplace();
  state.upgrade->id = "u1";
  state.upgrade->generation = 2;
  const Event said = MessageReceived{1, agent_protocol::Status{"reading"}, false};

  chronicle.note(said, {}, state, now);
  state.incumbent.reset();
  chronicle.note(ProcessExited{1, {}}, {}, state, now);

  REQUIRE(chronicle.upgrade());
  CHECK(chronicle.upgrade()->from.executable == "");
  CHECK(past(chronicle) == nullptr);
}

TEST_CASE("an upgrade at boot comes from nobody, and an ending of none ends nothing") {
  Chronicle chronicle;
  State state;
  state.upgrade.emplace();
  state.upgrade->id = "boot";
  state.upgrade->generation = 1;

  chronicle.note(Outcome{}, {}, State{}, now);
  chronicle.note(Outcome{}, {RecordEnding{}}, State{}, now);
  CHECK(chronicle.endings().empty());
  chronicle.note(Outcome{}, {}, state, now);

  CHECK(chronicle.upgrade()->from.executable == "");
  // The chronicle has recorded an upgrade, but not its terms (mode, timeouts and so on), which
  // status_news() gets from the supervisor's state. The state here has no upgrade, so status.json
  // must not show the recorded one.
  CHECK(status_news(State{}, chronicle, {}).find("\"upgrade\"") == std::string::npos);
}

TEST_CASE("a stop takes until the agent has confirmed it, however long it lives on") {
  StatusBench bench;
  bench->reach(Phase::switching);
  bench.pass(Duration{100});
  bench->stopped(1);
  bench.pass(Duration{100});
  bench->say(1, agent_protocol::Status{"nearly gone"});
  bench->exit(1);
  bench->say(2, agent_protocol::Healthy{});

  CHECK(bench.chronicle().endings().front().stop_ms == 100);
}

// ---- when events happened, and how long the parts of an upgrade took

namespace {

using namespace std::chrono_literals;
using agent_protocol::Mode;
using agent_protocol::Status;
using agent_protocol::Unfit;

agent_protocol::Upgrade sequential() {
  return {.id = "u1", .mode = Mode::sequential};
}

// Returns a state in which an agent of this generation is active.
State running(Generation generation) {
  State state;
  state.incumbent.emplace();
  state.incumbent->generation = generation;
  state.incumbent->greeted = state.incumbent->ready = state.incumbent->activated = true;
  return state;
}

const Event nothing_due = DeadlinePassed{};

}  // namespace

TEST_CASE("a wall clock that is set is followed, and one that is read a little later is not") {
  Chronicle chronicle;
  const auto on_the_wall = [&](std::int64_t wall_ms) {
    chronicle.note(nothing_due, {}, State{}, {5'000'000, wall_ms});
    return chronicle.on_the_wall(Time{5'000});
  };

  CHECK(on_the_wall(70'000) == 70'000);
  CHECK(on_the_wall(70'002) == 70'000);
  CHECK(on_the_wall(69'998) == 70'000);
  CHECK(on_the_wall(70'003) == 70'003);
  CHECK(on_the_wall(70'001) == 70'003);
  CHECK(on_the_wall(60'000) == 60'000);
}

TEST_CASE("a phase begins when it is reached, and not while an outcome is awaited") {
  Chronicle chronicle;
  State state = running(1);
  chronicle.note(nothing_due, {}, state, {1, 1'000});
  chronicle.note(nothing_due, {}, state, {2, 2'000});
  CHECK(chronicle.since().wall_ms == 1'000);

  state.upgrade.emplace();
  state.pending = Pending::check;
  chronicle.note(nothing_due, {}, state, {3, 3'000});
  CHECK(chronicle.since().wall_ms == 1'000);
  state.upgrade.reset();
  state.pending = Pending::nothing;
  chronicle.note(nothing_due, {}, state, {4, 4'000});
  CHECK(chronicle.since().wall_ms == 1'000);
}

TEST_CASE("a status is that of the agent that said it, once it has said hello") {
  StatusBench bench;
  bench->reach(Phase::preparing);
  bench->say(2, Status{"too early"});
  bench->say(9, Status{"of nobody"});
  CHECK(std::as_const(bench.chronicle()).find(2)->status.empty());

  bench->hello(2);
  bench->say(2, Status{"loading"});

  CHECK(std::as_const(bench.chronicle()).find(2)->status == "loading");
  CHECK(std::as_const(bench.chronicle()).find(1)->status.empty());
}

TEST_CASE("an agent whose start was not noted, and an end of no upgrade, are left out") {
  Chronicle chronicle;
  State state = running(1);
  state.upgrade.emplace();
  state.upgrade->generation = 2;
  chronicle.note(ProcessExited{7, {}}, {}, state, {1, 1'000});
  CHECK(std::as_const(chronicle).find(1) == nullptr);
  CHECK(chronicle.upgrade()->from.executable.empty());

  Chronicle of_nobody;
  of_nobody.note(nothing_due, {RecordEnding{}}, State{}, {1, 1'000});
  CHECK(of_nobody.endings().empty());
  state.incumbent.reset();
  of_nobody.note(nothing_due, {}, state, {2, 2'000});
  CHECK(of_nobody.upgrade()->from.executable.empty());
}

// Requirements (tests/judging/rows): X-14
TEST_CASE("what an upgrade took is measured from the first moment to the last, steps between") {
  StatusBench bench;
  bench->start();
  bench->hello(1, "1.0");
  bench->say(1, agent_protocol::Ready{});
  bench->upgrade(agent_protocol::Upgrade{.id = "u1", .gate = agent_protocol::Gate::confirm});
  bench.pass(1s);
  bench->ready(2);
  const auto wait_and_chat = [&](Generation generation) {
    bench.pass(2s);
    bench->say(generation, Status{"well"});
    bench.pass(1s);
  };
  wait_and_chat(1);
  bench->say(1, agent_protocol::Confirm{"u1"});
  wait_and_chat(1);
  bench->stopped(1);
  wait_and_chat(2);
  UpgradePast under_way = *bench.chronicle().upgrade();
  CHECK(under_way.ready.wall_ms == bench.stamp().wall_ms - 9'000);
  CHECK(under_way.stop_sent.wall_ms == bench.stamp().wall_ms - 6'000);
  CHECK(under_way.stopped.wall_ms == bench.stamp().wall_ms - 3'000);
  bench->exit(1);
  wait_and_chat(2);
  bench.pass(27s);

  UpgradePast past = bench.chronicle().endings().front();
  CHECK(past.from.version == "1.0");
  CHECK(past.gate_ms == 3'000);
  CHECK(past.stop_ms == 3'000);
  CHECK(past.overlap_ms == 10'000);
  CHECK(past.trial_ms == 30'000);
}

TEST_CASE("agents that never ran at the same time have no overlap, and the gap is the whole way") {
  StatusBench bench;
  bench->start();
  bench->ready(1);
  bench->upgrade(sequential());
  bench->stopped(1);
  bench->exit(1);
  bench.pass(4s);
  bench->exit(2, 1);
  bench.pass(3s);
  bench->ready(3);

  UpgradePast past = bench.chronicle().endings().front();
  CHECK_FALSE(past.overlap_ms);
  CHECK(past.gap_us == 7'000'000);
  CHECK_FALSE(past.trial_ms);
}

TEST_CASE("an agent on trial that ends beside its standby changes nothing of the overlap") {
  Policy policy = Bench::default_policy();
  policy.defaults.fallback = agent_protocol::FallbackMode::warm;
  StatusBench bench(policy);
  bench->reach_warm_trial();
  const auto overlap_now = [&bench] {
    UpgradePast past = *bench.chronicle().upgrade();
    return past.overlap_ms;
  };
  const auto overlap = overlap_now();
  REQUIRE(overlap);
  bench.pass(2s);

  bench->exit(2, 3);

  CHECK(overlap_now() == overlap);
}

TEST_CASE("a trial of no time is told as one that took none") {
  Policy policy = Bench::default_policy();
  policy.defaults.trial = 0s;
  StatusBench bench(policy);
  bench->reach(Phase::trial);

  REQUIRE(bench.chronicle().endings().size() == 1);
  CHECK(bench.news().find(R"("trial_ms":0})") != std::string::npos);
}

TEST_CASE("an upgrade is told with who asked for it: a signal, or the way back at boot") {
  StatusBench by_signal;
  by_signal->reach(Phase::running);
  by_signal->take(UpgradeRequested{});
  CHECK(by_signal.news().find(R"("upgrade":{"id":"sigusr2-1","origin":"signal")") !=
        std::string::npos);

  Policy policy = Bench::default_policy();
  policy.previous = true;
  StatusBench at_boot(policy);
  at_boot->start();
  at_boot->hello(1, "2.0");
  at_boot->exit(1, 1);
  CHECK(at_boot.chronicle().upgrade()->from.version == "2.0");
  CHECK(at_boot.news().find(R"("upgrade":{"id":"boot","origin":"boot")") != std::string::npos);
  CHECK(at_boot.chronicle().upgrade()->from.executable == at_boot.first);
  CHECK(at_boot.chronicle().upgrade()->to.executable == at_boot.candidate);
}

}  // namespace chronicle_test
