// An agent's session where the upgrader says what it should not: it is not led astray.
#include <catch2/catch.hpp>

#include "tests/unit/session_roads.h"

using namespace session_roads;

TEST_CASE("a welcome that comes only after the work is not told") {
  Session session = ready().hear(Activate{});
  REQUIRE_FALSE(session.held());

  CHECK(session.hear(first).empty());
}

TEST_CASE("an agent that has not been welcomed is on no trial") {
  Session session = ready().hear(Activate{});

  CHECK_FALSE(session.say(Healthy{}));
}

TEST_CASE("a stop of another reason counts for itself, also where it names an upgrade") {
  Stop shutdown = stop_upgrade;
  shutdown.reason = StopReason::shutdown;
  Session active_one = active();
  Session cancelled = accepted().say(Cancel{"u1", {}});

  CHECK(active_one.hear(shutdown).size() == 1);
  CHECK(active_one.hear(failed("u1", Stage::start)).empty());
  CHECK(cancelled.hear(shutdown).size() == 1);
}

TEST_CASE("a stop for an upgrade that does not say which leaves no candidate to be lost") {
  Session session = active().hear(stop_for(StopReason::upgrade));

  CHECK(session.hear(CandidateLost{"u1", "exited"}).empty());
}
