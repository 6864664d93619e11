// Tests every event in every phase, and then every possible second event. Longer sequences of
// events are explored in tests/decisions/explore.
#include <catch2/catch.hpp>

#include "tests/support/bench.h"
#include "tests/support/every_event.h"
#include "tests/support/print.h"

namespace phase_event_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;

}  // namespace

TEST_CASE("every phase is reached by a story of its own") {
  for (const Phase phase : every_phase()) {
    Bench bench;
    bench.reach(phase);

    INFO(name_of(phase));
    CHECK(bench.phase() == phase);
    CHECK(bench.violations().empty());
  }
}

TEST_CASE("no event in any phase breaks an invariant, and no two in a row") {
  std::size_t cells = 0;
  for (const Phase phase : every_phase()) {
    Bench start;
    start.reach(phase);
    for (const NamedEvent& first : every_event(start.state())) {
      Bench bench = start;
      bench.take(first.event);
      if (first.then) bench.take(*first.then);
      for (const NamedEvent& second : every_event(bench.state())) {
        Bench then = bench;
        then.take(second.event);
        if (second.then) then.take(*second.then);
        ++cells;
        if (then.violations().empty()) continue;
        FAIL_CHECK(name_of(phase) << ": " << first.name << ", then " << second.name << ": "
                                  << then.violations().front());
      }
    }
  }
  CHECK(cells > 12 * 50 * 50);
}

TEST_CASE("an event of a generation that has gone changes nothing") {
  for (const Phase phase : every_phase()) {
    Bench bench;
    bench.reach(phase);
    const Supervisor before = bench.supervisor();

    const Actions actions = bench.take(
        MessageReceived{bench.state().last_generation + 7, agent_protocol::Ready{}, false});

    CHECK(actions.empty());
    CHECK(bench.supervisor() == before);
  }
}

TEST_CASE("a supervisor can be copied, compared, hashed and printed") {
  Bench one, other;
  one.reach(Phase::trial);
  other.reach(Phase::trial);

  CHECK(one.supervisor() == other.supervisor());
  CHECK(print(one.supervisor()) == print(other.supervisor()));

  other.take(StopRequested{});
  CHECK_FALSE(one.supervisor() == other.supervisor());
  CHECK(print(one.supervisor()) != print(other.supervisor()));
}

}  // namespace phase_event_test
