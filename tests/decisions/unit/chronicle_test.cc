// Tests the chronicle, which records the past of the upgrader. The events come in an odd order
// here, and are about agents and upgrades that the chronicle does not know.
#include "upgrader/core/chronicle.h"

#include <catch2/catch.hpp>

#include "tests/decisions/unit/status_bench.h"

namespace chronicle_test {

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
  // status_news() takes the mode, the timeouts and the other terms of an upgrade from the
  // supervisor's state, since the chronicle does not know them. No upgrade is under way in this
  // state, so status.json does not show the upgrade that the chronicle knows.
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

  const auto& spans = bench.chronicle().endings().front().spans;
  CHECK(spans[static_cast<std::size_t>(Span::stop)] == 100);
}

}  // namespace chronicle_test
