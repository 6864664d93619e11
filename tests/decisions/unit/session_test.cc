// Tests the session, which is the agent's half of the conversation with the upgrader: the reasons
// with which the session refuses calls, messages that cross each other, and an upgrader that breaks
// the protocol. After each wrong message, the session must still be in the right state.
// session_table_test.cc tests which calls and messages are allowed.
#include "agent-protocol/cpp/session/session.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "tests/decisions/unit/session_roads.h"

namespace session_test {

using namespace session_roads;

namespace {

std::string refusal(Session session, const AgentMessage& message) {
  const Result<SessionActions> actions = session.say(message);
  return actions ? "" : actions.reason();
}

SessionActions said(Session& session, const AgentMessage& message) {
  const Result<SessionActions> actions = session.say(message);
  REQUIRE(actions);
  return actions.value();
}

SessionActions told(SessionEvent event) {
  return {Deliver{std::move(event)}};
}

}  // namespace

TEST_CASE("a refusal names the deed and the reason") {
  CHECK(refusal(active(), Ready{}) == "cannot say ready: this agent is active");
  CHECK(refusal(Road(), Ready{}) == "cannot say ready: hello has not been said");
  CHECK(refusal(ready(), Ready{}) == "cannot say ready: this agent has said ready and is held");
  CHECK(refusal(starting(), Hello{}) == "cannot say hello: it has been said already");
  CHECK(refusal(active(), Unfit{"x"}) == "cannot say unfit: this agent is not on trial");
  CHECK(refusal(on_trial().say(Unfit{"x"}), Unfit{"x"}) ==
        "cannot say unfit: it has been said already");
  CHECK(refusal(on_trial().say(Unfit{"x"}), Healthy{}) ==
        "cannot say healthy: this agent has said unfit");
  CHECK(refusal(alone_active(), upgrade_named("u1")) ==
        "cannot request upgrade u1: there is no upgrader");
  CHECK(refusal(on_trial(), upgrade_named("u1")) ==
        "cannot request upgrade u1: this agent is on trial");
  CHECK(refusal(requested(), upgrade_named("u2")) ==
        "cannot request upgrade u2: upgrade u1 has been requested");
  CHECK(refusal(accepted(), upgrade_named("u2")) ==
        "cannot request upgrade u2: upgrade u1 is under way");
  CHECK(refusal(requested(), Cancel{"u1", {}}) ==
        "cannot cancel upgrade u1: it has not been accepted");
  CHECK(refusal(accepted(), Confirm{"u1"}) ==
        "cannot confirm upgrade u1: its candidate is not ready");
  CHECK(refusal(gated(), Confirm{"u9"}) ==
        "cannot confirm upgrade u9: no such upgrade is under way");
  CHECK(refusal(gated().say(Confirm{"u1"}), Confirm{"u1"}) ==
        "cannot confirm upgrade u1: it has been confirmed");
  CHECK(refusal(gated().say(Cancel{"u1", {}}), Confirm{"u1"}) ==
        "cannot confirm upgrade u1: it has been cancelled");
  CHECK(refusal(stopping().terminate(), Cancel{"u1", {}}) ==
        "cannot cancel upgrade u1: SIGTERM has told this agent to stop");
  CHECK(refusal(active(), Stopped{}) == "cannot say stopped: this agent has not been told to stop");
  CHECK(refusal(stopping().say(Stopped{}), Stopped{}) ==
        "cannot say stopped: this agent has said stopped");
  CHECK(refusal(active().end_input(), Heartbeat{}) ==
        "cannot send a heartbeat: the upgrader has gone");
  CHECK(refusal(active(), Extend{1}) == "cannot extend the deadline: this agent is active");
  CHECK(refusal(Road(), Status{"x"}) == "cannot show a status: hello has not been said");
  CHECK(refusal(starting().say(Unfit{"x"}), Ready{}) ==
        "cannot say ready: this agent's part has ended");
}

TEST_CASE("a held agent exits at the end of input with 1 and at SIGTERM with 143") {
  Session at_end = ready();
  Session at_term = ready();

  CHECK(at_end.input_ended() == SessionActions{ExitAtOnce{1}});
  CHECK(at_term.terminated() == SessionActions{ExitAtOnce{143}});
}

TEST_CASE("an agent is held until it is activated, and has nothing to give up after unfit") {
  CHECK(Session(Road()).held());
  CHECK(Session(ready()).held());
  CHECK(Session(starting().say(Unfit{"x"})).held());
  CHECK_FALSE(Session(active()).held());
  CHECK_FALSE(Session(stopping()).held());
  CHECK_FALSE(Session(stopping().say(Stopped{})).held());
}

TEST_CASE("a stop is told with all that the upgrader says of it") {
  Session session = accepted();

  const SessionActions actions = session.hear(stop_upgrade);

  CHECK(actions == told(StopAsked{StopCause::upgrade, 90'000, "u1", 2}));
}

TEST_CASE("every stop is told with its cause") {
  Session rolled_back = on_trial();
  Session shut_down = active();
  Session left_alone = active();
  Session signalled = active();

  CHECK(rolled_back.hear(stop_rollback) ==
        told(StopAsked{.cause = StopCause::rollback, .deadline_ms = 90'000}));
  CHECK(shut_down.hear(stop_shutdown) ==
        told(StopAsked{.cause = StopCause::shutdown, .deadline_ms = 90'000}));
  CHECK(left_alone.input_ended() == told(StopAsked{.cause = StopCause::end_of_input}));
  CHECK(signalled.terminated() == told(StopAsked{.cause = StopCause::signal}));
}

TEST_CASE("alone, ready is followed by activate without state, and SIGTERM comes as stop") {
  Session session = alone();

  CHECK(said(session, Ready{}) == told(Activate{.state = std::nullopt, .clean = false}));
  CHECK(session.terminated() == told(StopAsked{.cause = StopCause::signal}));
  CHECK(said(session, Stopped{"position 7"}).empty());
}

TEST_CASE("a stop for an upgrade that has been cancelled is void") {
  Session session = accepted();
  (void)said(session, Cancel{"u1", {}});

  CHECK(session.hear(stop_upgrade).empty());
  CHECK(session.hear(failed("u1", Stage::cancel)) == told(failed("u1", Stage::cancel)));
  CHECK(said(session, upgrade_named("u2")) == SessionActions{Send{upgrade_named("u2")}});
}

TEST_CASE("a void stop is not confirmed, and a shutdown after it is") {
  Session session = accepted().say(Cancel{"u1", {}}).terminate();

  CHECK(session.hear(stop_upgrade).empty());
  CHECK(said(session, Stopped{"position 7"}).empty());
  CHECK(session.hear(stop_upgrade).empty());
  CHECK(session.hear(stop_shutdown) == SessionActions{Send{Stopped{"position 7"}}});
}

TEST_CASE("a stop for another upgrade than the cancelled one counts") {
  Session session = accepted();
  (void)said(session, Cancel{"u1", {}});

  CHECK(session.hear(stop_for_upgrade("sigusr2-1")) ==
        told(StopAsked{StopCause::upgrade, 90'000, "sigusr2-1", 2}));
}

TEST_CASE("a cancel takes a stop back, and a stop may come again") {
  Session session = stopping();

  CHECK(said(session, Cancel{"u1", "busy"}) == SessionActions{Send{Cancel{"u1", "busy"}}});
  CHECK(refusal(session, Stopped{}) != "");
  CHECK(session.hear(failed("u1", Stage::cancel)) == told(failed("u1", Stage::cancel)));
  CHECK(session.hear(stop_shutdown) ==
        told(StopAsked{.cause = StopCause::shutdown, .deadline_ms = 90'000}));
  CHECK(said(session, Stopped{}) == SessionActions{Send{Stopped{}}});
}

TEST_CASE("a cancel that crosses a shutdown is answered by a stop that counts") {
  Session session = stopping();
  (void)said(session, Cancel{"u1", {}});

  (void)session.hear(failed("u1", Stage::shutdown));

  CHECK(session.hear(stop_shutdown) ==
        told(StopAsked{.cause = StopCause::shutdown, .deadline_ms = 90'000}));
  CHECK(session.hear(stop_shutdown).empty());
}

TEST_CASE("an upgrade that a shutdown ends leaves the stop for it in force") {
  Session session = stopping();

  (void)session.hear(failed("u1", Stage::shutdown));

  CHECK(refusal(session, Cancel{"u1", {}}) ==
        "cannot cancel upgrade u1: no such upgrade is under way");
  CHECK(said(session, Stopped{}) == SessionActions{Send{Stopped{}}});
}

TEST_CASE("an agent that has stopped of itself confirms a stop that comes late") {
  Session session = active().terminate().say(Stopped{"position 7"});

  CHECK_FALSE(session.stop_ordered());
  CHECK(session.hear(stop_upgrade) == SessionActions{Send{Stopped{"position 7"}}});
  CHECK(session.hear(stop_upgrade).empty());
}

TEST_CASE("a stop that follows SIGTERM is not told twice, but is confirmed") {
  Session session = active().terminate();

  CHECK(session.hear(stop_shutdown).empty());
  CHECK(session.stop_ordered());
  CHECK(said(session, Stopped{}) == SessionActions{Send{Stopped{}}});
}

TEST_CASE("a request that crosses a stop for another upgrade is still answered") {
  Session session = active().say(upgrade_named("u2"));
  (void)session.hear(stop_upgrade);
  const UpgradeFailed busy = failed("u2", Stage::request);

  CHECK(session.hear(busy) == told(busy));
  CHECK(said(session, Cancel{"u1", {}}) == SessionActions{Send{Cancel{"u1", {}}}});
}

TEST_CASE("the loss of the candidate lets the agent take the work back, or not") {
  Session session = stopping();
  const CandidateLost lost{"u1", "exited"};

  CHECK(session.hear(lost) == told(lost));
  Session stays = session;
  CHECK(said(stays, Cancel{"u1", {}}).size() == 1);
  CHECK(said(session, Stopped{}).size() == 1);
}

TEST_CASE("the loss of a candidate that crosses the cancel is not told") {
  Session session = stopping().say(Cancel{"u1", {}});

  CHECK(session.hear(CandidateLost{"u1", "exited"}).empty());
}

TEST_CASE("messages about an upgrade that the agent does not know are told to nobody") {
  const Session session = accepted();

  for (const UpgraderMessage& message : std::vector<UpgraderMessage>{
           Accepted{"u9", 3}, CandidateReady{"u9", 3, {}}, failed("u9", Stage::spawn)}) {
    Session asked = session;
    CHECK(asked.hear(message).empty());
    CHECK(asked == session);
  }
  Session told_to_stop = stopping();
  CHECK(told_to_stop.hear(CandidateLost{"u9", "exited"}).empty());
}

TEST_CASE("an error about a request makes room for another") {
  Session session = requested();
  const Error error{"upgrade", "not now"};

  CHECK(session.hear(Error{"status", "too long"}).size() == 1);
  CHECK(refusal(session, upgrade_named("u2")) != "");
  CHECK(session.hear(error) == told(error));
  CHECK(said(session, upgrade_named("u2")).size() == 1);
}

TEST_CASE("a fallback agent has no trial") {
  const Welcome fallback = welcome_as(Role::fallback);
  Session session = ready().hear(fallback);

  CHECK(session.hear(Activate{.state = "position 7", .clean = true}).size() == 1);
  CHECK(refusal(session, Healthy{}) == "cannot say healthy: this agent is not on trial");
  CHECK(said(session, upgrade_named("u2")).size() == 1);
}

TEST_CASE("a fallback at boot has a trial, as a candidate has one") {
  Welcome fallback = welcome_as(Role::fallback);
  fallback.failure.emplace().failure.id = "boot";
  Session session = ready().hear(fallback).hear(Activate{});

  CHECK(session.describe() == "active, fallback, on trial");
  CHECK(said(session, Healthy{}).size() == 1);
}

TEST_CASE("whether an agent with readiness has said that it works is told of it in words") {
  Welcome welcome = first;
  welcome.features = {"readiness"};
  Session session = ready().hear(welcome).hear(Activate{});

  CHECK(session.describe() == "active, first, readiness awaited");
  (void)said(session, Healthy{});
  CHECK(session.describe() == "active, first, works");
}

TEST_CASE("a welcome that crosses ready still says who is on trial") {
  Session session = ready();

  CHECK(session.hear(candidate) == told(candidate));
  (void)session.hear(Activate{});

  CHECK(said(session, Healthy{}) == SessionActions{Send{Healthy{}}});
}

TEST_CASE("what was not told after a stop of another cause cannot be cancelled") {
  Session session = accepted();
  (void)session.hear(stop_shutdown);

  CHECK(refusal(session, Cancel{"u1", {}}) ==
        "cannot cancel upgrade u1: this agent has been told to stop");
}

TEST_CASE(
    "with the feature readiness an agent says healthy in every role, and extends until then") {
  for (const Role role : {Role::first, Role::candidate, Role::fallback}) {
    Welcome welcome = welcome_as(role);
    welcome.features = {"other", "readiness"};
    Session session = ready().hear(welcome);
    CHECK(refusal(session, Healthy{}) ==
          "cannot say healthy: this agent has said ready and is held");
    (void)session.hear(Activate{});

    CHECK(said(session, Extend{1000}) == SessionActions{Send{Extend{1000}}});
    CHECK(said(session, Healthy{}) == SessionActions{Send{Healthy{}}});
    CHECK(refusal(session, Extend{1000}) == "cannot extend the deadline: this agent is active");
  }
  Session without = active();
  CHECK(refusal(without, Extend{1000}) == "cannot extend the deadline: this agent is active");
  CHECK(refusal(without, Healthy{}) == "cannot say healthy: this agent is not on trial");
}

TEST_CASE("who has said unfit works no more, whatever its features are") {
  Welcome welcome = candidate;
  welcome.features = {"readiness"};
  Session session = ready().hear(welcome).hear(Activate{}).say(Unfit{"sick"});

  CHECK(refusal(session, Healthy{}) == "cannot say healthy: this agent has said unfit");
}

// ---- messages of an upgrader that breaks the protocol

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

}  // namespace session_test
