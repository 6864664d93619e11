// Tests an agent's session with an upgrader that breaks the protocol. After each wrong message, the
// session must still be in the right state.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/decisions/unit/session_roads.h"

namespace session_corners_test {

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

TEST_CASE("a fallback is on trial where it was started at boot, and nowhere else") {
  for (const auto& [id, is_on_trial] : {std::pair{"boot", true}, std::pair{"u1", false}}) {
    Welcome welcome = welcome_as(Role::fallback);
    welcome.failure = PastFailure{failed(id, Stage::start).failure, std::nullopt};
    Session session = ready().hear(welcome).hear(Activate{});

    CAPTURE(id);
    CHECK(static_cast<bool>(session.say(Healthy{})) == is_on_trial);
  }
}

TEST_CASE(
    "a feature that is not readiness is not taken for it, nor is it while the agent is held") {
  Welcome welcome = first;
  welcome.features = {"other"};
  Session other = ready().hear(welcome).hear(Activate{});
  welcome.features = {"readiness"};
  Session held = ready().hear(welcome);

  CHECK_FALSE(other.say(Healthy{}));
  CHECK_FALSE(held.say(Extend{1'000}));
}

TEST_CASE("a message that the protocol does not allow now is an error of the protocol") {
  Session session = ready();

  const Result<SessionActions> said = session.say(Ready{});

  REQUIRE_FALSE(said);
  CHECK(said.refusal().error_number == EPROTO);
}

}  // namespace session_corners_test
