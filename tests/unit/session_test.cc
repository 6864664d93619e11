// The agent's half of the conversation: every call and every message in every state, in two tables
// written by hand from the protocol page, and the crossings one by one.
#include "agent-protocol/session.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace agent_protocol;

namespace agent_protocol {

static std::ostream& operator<<(std::ostream& out, const Session& session) {
  return out << session.describe();
}

}  // namespace agent_protocol

namespace {

Welcome welcome_as(Role role) {
  Welcome welcome;
  welcome.role = role;
  return welcome;
}

Stop stop_for(StopReason reason) {
  Stop stop;
  stop.reason = reason;
  stop.deadline_ms = 90'000;
  return stop;
}

Stop stop_for_upgrade(const std::string& id) {
  Stop stop = stop_for(StopReason::upgrade);
  stop.id = id;
  stop.generation = 2;
  return stop;
}

UpgradeFailed failed(const std::string& id, Stage stage) {
  UpgradeFailed message;
  message.failure.id = id;
  message.failure.stage = stage;
  message.failure.reason = "exited";
  return message;
}

Upgrade upgrade_named(const std::string& id) {
  Upgrade upgrade;
  upgrade.id = id;
  upgrade.executable = "/agent";
  return upgrade;
}

const Welcome first = welcome_as(Role::first);
const Welcome candidate = welcome_as(Role::candidate);
const Stop stop_upgrade = stop_for_upgrade("u1");
const Stop stop_rollback = stop_for(StopReason::rollback);
const Stop stop_shutdown = stop_for(StopReason::shutdown);

const std::vector<std::pair<std::string, AgentMessage>> calls = {
    {"hello", Hello{}},
    {"ready", Ready{}},
    {"unfit", Unfit{"broken"}},
    {"upgrade", upgrade_named("u1")},
    {"confirm", Confirm{"u1"}},
    {"cancel", Cancel{"u1", std::nullopt}},
    {"stopped", Stopped{"position 7"}},
    {"healthy", Healthy{}},
    {"extend", Extend{1'000}},
    {"heartbeat", Heartbeat{}},
    {"status", Status{"busy"}}};

using Happening = std::function<SessionActions(Session&)>;

Happening heard(UpgraderMessage message) {
  return [message](Session& session) { return session.hear(message); };
}

const std::vector<std::pair<std::string, Happening>> happenings = {
    {"welcome", heard(first)},
    {"activate", heard(Activate{.state = "position 7", .clean = true})},
    {"stop-u", heard(stop_upgrade)},
    {"stop-r", heard(stop_rollback)},
    {"stop-s", heard(stop_shutdown)},
    {"accept", heard(Accepted{"u1", 2})},
    {"gate", heard(CandidateReady{"u1", 2, "2"})},
    {"lost", heard(CandidateLost{"u1", "exited"})},
    {"failed", heard(failed("u1", Stage::start))},
    {"commit", heard(Committed{"u1", 2})},
    {"error", heard(Error{"status", "no"})},
    {"end", [](Session& session) { return session.input_ended(); }},
    {"TERM", [](Session& session) { return session.terminated(); }}};

// A session led to where the test wants it; every step must be possible.
class Road {
 public:
  explicit Road(Session::Company company = Session::Company::upgrader) : session_(company) {}

  Road& say(const AgentMessage& message) {
    const Result<SessionActions> actions = session_.say(message);
    REQUIRE(actions);
    return *this;
  }
  Road& hear(const UpgraderMessage& message) {
    (void)session_.hear(message);
    return *this;
  }
  Road& terminate() {
    (void)session_.terminated();
    return *this;
  }
  Road& end_input() {
    (void)session_.input_ended();
    return *this;
  }
  operator Session() const { return session_; }

 private:
  Session session_;
};

Road starting() {
  return Road().say(Hello{});
}
Road ready() {
  return starting().say(Ready{});
}
Road active() {
  return ready().hear(first).hear(Activate{});
}
Road on_trial() {
  return ready().hear(candidate).hear(Activate{});
}
Road requested() {
  return active().say(upgrade_named("u1"));
}
Road accepted() {
  return requested().hear(Accepted{"u1", 2});
}
Road gated() {
  return accepted().hear(CandidateReady{"u1", 2, std::nullopt});
}
Road stopping() {
  return accepted().hear(stop_upgrade);
}
Road alone() {
  return Road(Session::Company::nobody).say(Hello{});
}
Road alone_active() {
  return alone().say(Ready{});
}

std::map<std::string, Session> all_states() {
  return {{"silent", Road()},
          {"starting", starting()},
          {"welcomed", starting().hear(candidate)},
          {"ready", ready()},
          {"active", active()},
          {"trial", on_trial()},
          {"trial-unfit", on_trial().say(Unfit{"slow"})},
          {"committed", on_trial().hear(Committed{"u0", 2})},
          {"requested", requested()},
          {"accepted", accepted()},
          {"gated", gated()},
          {"confirmed", gated().say(Confirm{"u1"})},
          {"cancelled", accepted().say(Cancel{"u1", {}})},
          {"told-upgrade", stopping()},
          {"told-unasked", active().hear(stop_upgrade)},
          {"told-rollback", on_trial().hear(stop_rollback)},
          {"told-shutdown", active().hear(stop_shutdown)},
          {"taken-back", stopping().say(Cancel{"u1", {}})},
          {"signalled", active().terminate()},
          {"signal-told", active().terminate().hear(stop_upgrade)},
          {"told-signal", stopping().terminate()},
          {"gone", active().end_input()},
          {"told-gone", stopping().end_input()},
          {"stopped", stopping().say(Stopped{})},
          {"unsent", active().terminate().say(Stopped{})},
          {"ended", starting().say(Unfit{"broken"})},
          {"exiting", ready().end_input()},
          {"alone-held", alone()},
          {"alone-active", alone_active()},
          {"alone-told", alone_active().terminate()},
          {"alone-stopped", alone_active().terminate().say(Stopped{})},
          {"alone-ended", alone().say(Unfit{"broken"})}};
}

// `sent`: the message is sent. `told`: the program gets an event. `ok`: allowed, nothing comes of
// it. `-`: refused.
constexpr const char* table_of_calls = R"(
state         hello ready unfit upgrade confirm cancel stopped healthy extend heartbeat status
silent        sent  -     -     -       -       -      -       -       -      -         -
starting      -     sent  sent  -       -       -      -       -       sent   -         sent
welcomed      -     sent  sent  -       -       -      -       -       sent   -         sent
ready         -     -     sent  -       -       -      -       -       -      -         sent
active        -     -     -     sent    -       -      -       -       -      sent      sent
trial         -     -     sent  -       -       -      -       sent    -      sent      sent
trial-unfit   -     -     -     -       -       -      -       -       -      sent      sent
committed     -     -     -     sent    -       -      -       -       -      sent      sent
requested     -     -     -     -       -       -      -       -       -      sent      sent
accepted      -     -     -     -       -       sent   -       -       -      sent      sent
gated         -     -     -     -       sent    sent   -       -       -      sent      sent
confirmed     -     -     -     -       -       sent   -       -       -      sent      sent
cancelled     -     -     -     -       -       -      -       -       -      sent      sent
told-upgrade  -     -     -     -       -       sent   sent    -       sent   sent      sent
told-unasked  -     -     -     -       -       sent   sent    -       sent   sent      sent
told-rollback -     -     -     -       -       -      sent    -       sent   sent      sent
told-shutdown -     -     -     -       -       -      sent    -       sent   sent      sent
taken-back    -     -     -     -       -       -      -       -       -      sent      sent
signalled     -     -     -     -       -       -      ok      -       ok     sent      sent
signal-told   -     -     -     -       -       -      sent    -       sent   sent      sent
told-signal   -     -     -     -       -       -      sent    -       sent   sent      sent
gone          -     -     -     -       -       -      ok      -       -      -         -
told-gone     -     -     -     -       -       -      ok      -       -      -         -
stopped       -     -     -     -       -       -      -       -       -      -         sent
unsent        -     -     -     -       -       -      -       -       -      -         sent
ended         -     -     -     -       -       -      -       -       -      -         sent
exiting       -     -     -     -       -       -      -       -       -      -         -
alone-held    ok    told  ok    -       ok      ok     ok      ok      ok     ok        ok
alone-active  ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-told    ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-stopped ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-ended   ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
)";

// `told`, `sent` as above. `exit`: the agent exits at once. `noted`: only the session changes. `.`:
// nothing at all.
constexpr const char* table_of_happenings = R"(
state         welcome activate stop-u stop-r stop-s accept gate lost failed commit error end   TERM
silent        .       .        .      .      .      .      .    .    .      .      .     exit  exit
starting      told    .        .      .      .      .      .    .    .      .      told  exit  exit
welcomed      .       .        .      .      .      .      .    .    .      .      told  exit  exit
ready         told    told     .      .      .      .      .    .    .      .      told  exit  exit
active        .       .        told   told   told   .      .    .    .      .      told  told  told
trial         .       .        told   told   told   .      .    .    .      told   told  told  told
trial-unfit   .       .        told   told   told   .      .    .    .      told   told  told  told
committed     .       .        told   told   told   .      .    .    .      .      told  told  told
requested     .       .        told   told   told   told   .    .    told   .      told  told  told
accepted      .       .        told   told   told   .      told .    told   .      told  told  told
gated         .       .        told   told   told   .      .    .    told   .      told  told  told
confirmed     .       .        told   told   told   .      .    .    told   .      told  told  told
cancelled     .       .        .      told   told   .      .    .    told   .      told  told  told
told-upgrade  .       .        .      .      .      .      .    told told   .      told  noted noted
told-unasked  .       .        .      .      .      .      .    told told   .      told  noted noted
told-rollback .       .        .      .      .      .      .    .    .      .      told  noted noted
told-shutdown .       .        .      .      .      .      .    .    .      .      told  noted noted
taken-back    .       .        .      told   told   .      .    .    told   .      told  told  told
signalled     .       .        noted  noted  noted  .      .    .    .      .      told  noted .
signal-told   .       .        .      .      .      .      .    told told   .      told  noted .
told-signal   .       .        .      .      .      .      .    told told   .      told  noted .
gone          .       .        .      .      .      .      .    .    .      .      .     .     noted
told-gone     .       .        .      .      .      .      .    .    .      .      .     .     noted
stopped       .       .        .      .      .      .      .    .    .      .      told  noted .
unsent        .       .        sent   sent   sent   .      .    .    .      .      told  noted .
ended         .       .        .      .      .      .      .    .    .      .      .     exit  exit
exiting       .       .        .      .      .      .      .    .    .      .      .     .     exit
alone-held    .       .        .      .      .      .      .    .    .      .      .     .     exit
alone-active  .       .        .      .      .      .      .    .    .      .      .     .     told
alone-told    .       .        .      .      .      .      .    .    .      .      .     .     .
alone-stopped .       .        .      .      .      .      .    .    .      .      .     .     .
alone-ended   .       .        .      .      .      .      .    .    .      .      .     .     exit
)";

using Table = std::map<std::string, std::map<std::string, std::string>>;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

Table parsed(const std::string& text) {
  std::istringstream in(text.substr(1));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> columns = words_of(line);
  Table table;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = words_of(line);
    REQUIRE(cells.size() == columns.size());
    for (std::size_t i = 1; i < cells.size(); ++i)
      table[cells[0]][columns[i]] = cells[i];
  }
  return table;
}

std::string summary(const SessionActions& actions) {
  if (actions.empty()) return "nothing";
  REQUIRE(actions.size() == 1);
  if (std::holds_alternative<Send>(actions[0])) return "sent";
  if (std::holds_alternative<Deliver>(actions[0])) return "told";
  return "exit";
}

std::string outcome_of_call(Session session, const AgentMessage& message) {
  const Session before = session;
  const Result<SessionActions> actions = session.say(message);
  if (!actions) {
    CHECK(session == before);
    CHECK(actions.reason().starts_with("cannot " + deed(message) + ": "));
    return "-";
  }
  const std::string outcome = summary(actions.value());
  if (outcome == "sent") CHECK(actions.value()[0] == SessionAction(Send{message}));
  return outcome == "nothing" ? "ok" : outcome;
}

std::string outcome_of_happening(Session session, const Happening& happening) {
  const Session before = session;
  const std::string outcome = summary(happening(session));
  if (outcome != "nothing") return outcome;
  return session == before ? "." : "noted";
}

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

TEST_CASE("every call in every state does what the table says") {
  const Table table = parsed(table_of_calls);
  const std::map<std::string, Session> states = all_states();
  REQUIRE(table.size() == states.size());

  for (const auto& [name, session] : states) {
    for (const auto& [call, message] : calls) {
      INFO(name << " (" << session << "): " << call);
      CHECK(outcome_of_call(session, message) == table.at(name).at(call));
    }
  }
}

TEST_CASE("every message, the end of input and SIGTERM in every state do what the table says") {
  const Table table = parsed(table_of_happenings);
  const std::map<std::string, Session> states = all_states();
  REQUIRE(table.size() == states.size());

  for (const auto& [name, session] : states) {
    for (const auto& [happening, make] : happenings) {
      INFO(name << " (" << session << "): " << happening);
      CHECK(outcome_of_happening(session, make) == table.at(name).at(happening));
    }
  }
}

TEST_CASE("states differ in words where they differ") {
  const std::map<std::string, Session> states = all_states();
  for (const auto& [name, session] : states) {
    for (const auto& [other_name, other] : states) {
      INFO(name << ", " << other_name);
      CHECK((session == other) == (session.describe() == other.describe()));
    }
  }
}

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
