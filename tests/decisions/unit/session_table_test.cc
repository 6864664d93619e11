// Tests the session, which is the agent's half of the conversation with the upgrader. Compares the
// effect of every call and every message in every state with two tables, which were written by hand
// from the protocol page.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/decisions/unit/session_roads.h"

namespace session_table_test {

using namespace session_roads;

namespace {

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

std::map<std::string, Session> all_states() {
  return {{"silent", Road()},
          {"starting", starting()},
          {"welcomed", starting().hear(candidate)},
          {"ready", ready()},
          {"active", active()},
          {"trial", on_trial()},
          {"trial-unfit", on_trial().say(Unfit{"slow"})},
          {"trial-signal", on_trial().terminate()},
          {"trial-over", on_trial().terminate().say(Stopped{})},
          {"committed", on_trial().hear(Committed{"u0", 2})},
          {"requested", requested()},
          {"asked-over", requested().terminate().say(Stopped{})},
          {"refused", requested().hear(failed("u1", Stage::request))},
          {"accepted", accepted()},
          {"accept-over", accepted().terminate().say(Stopped{})},
          {"accept-shut", accepted().hear(stop_shutdown)},
          {"gated", gated()},
          {"gated-signal", gated().terminate()},
          {"confirmed", gated().say(Confirm{"u1"})},
          {"cancelled", accepted().say(Cancel{"u1", {}})},
          {"told-upgrade", stopping()},
          {"told-unasked", active().hear(stop_upgrade)},
          {"told-rollback", on_trial().hear(stop_rollback)},
          {"told-shutdown", active().hear(stop_shutdown)},
          {"taken-back", stopping().say(Cancel{"u1", {}})},
          {"taken-signal", stopping().say(Cancel{"u1", {}}).terminate()},
          {"signalled", active().terminate()},
          {"signal-told", active().terminate().hear(stop_upgrade)},
          {"told-signal", stopping().terminate()},
          {"gone", active().end_input()},
          {"told-gone", stopping().end_input()},
          {"stopped", stopping().say(Stopped{})},
          {"unsent", active().terminate().say(Stopped{})},
          {"ended", starting().say(Unfit{"broken"})},
          {"exiting", ready().end_input()},
          {"terminated", ready().terminate()},
          {"alone-held", alone()},
          {"alone-active", alone_active()},
          {"alone-told", alone_active().terminate()},
          {"alone-stopped", alone_active().terminate().say(Stopped{})},
          {"alone-ended", alone().say(Unfit{"broken"})}};
}

// The table of calls. Each row is a state of the session, and each column a call of the agent's
// program. A cell says what the call does in this state. `sent`: the message is sent. `told`: the
// program gets an event. `ok`: the call is allowed, and has no effect. `-`: the call is refused.
constexpr const char* table_of_calls = R"(
state         hello ready unfit upgrade confirm cancel stopped healthy extend heartbeat status
silent        sent  -     -     -       -       -      -       -       -      -         -
starting      -     sent  sent  -       -       -      -       -       sent   -         sent
welcomed      -     sent  sent  -       -       -      -       -       sent   -         sent
ready         -     -     sent  -       -       -      -       -       -      -         sent
active        -     -     -     sent    -       -      -       -       -      sent      sent
trial         -     -     sent  -       -       -      -       sent    -      sent      sent
trial-unfit   -     -     -     -       -       -      -       -       -      sent      sent
trial-signal  -     -     -     -       -       -      ok      -       ok     sent      sent
trial-over    -     -     -     -       -       -      -       -       -      -         sent
committed     -     -     -     sent    -       -      -       -       -      sent      sent
requested     -     -     -     -       -       -      -       -       -      sent      sent
asked-over    -     -     -     -       -       -      -       -       -      -         sent
refused       -     -     -     sent    -       -      -       -       -      sent      sent
accepted      -     -     -     -       -       sent   -       -       -      sent      sent
accept-over   -     -     -     -       -       -      -       -       -      -         sent
accept-shut   -     -     -     -       -       -      sent    -       sent   sent      sent
gated         -     -     -     -       sent    sent   -       -       -      sent      sent
gated-signal  -     -     -     -       -       -      ok      -       ok     sent      sent
confirmed     -     -     -     -       -       sent   -       -       -      sent      sent
cancelled     -     -     -     -       -       -      -       -       -      sent      sent
told-upgrade  -     -     -     -       -       sent   sent    -       sent   sent      sent
told-unasked  -     -     -     -       -       sent   sent    -       sent   sent      sent
told-rollback -     -     -     -       -       -      sent    -       sent   sent      sent
told-shutdown -     -     -     -       -       -      sent    -       sent   sent      sent
taken-back    -     -     -     -       -       -      -       -       -      sent      sent
taken-signal  -     -     -     -       -       -      ok      -       ok     sent      sent
signalled     -     -     -     -       -       -      ok      -       ok     sent      sent
signal-told   -     -     -     -       -       -      sent    -       sent   sent      sent
told-signal   -     -     -     -       -       -      sent    -       sent   sent      sent
gone          -     -     -     -       -       -      ok      -       -      -         -
told-gone     -     -     -     -       -       -      ok      -       -      -         -
stopped       -     -     -     -       -       -      -       -       -      -         sent
unsent        -     -     -     -       -       -      -       -       -      -         sent
ended         -     -     -     -       -       -      -       -       -      -         sent
exiting       -     -     -     -       -       -      -       -       -      -         -
terminated    -     -     -     -       -       -      -       -       -      -         sent
alone-held    ok    told  ok    -       ok      ok     ok      ok      ok     ok        ok
alone-active  ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-told    ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-stopped ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
alone-ended   ok    -     ok    -       ok      ok     ok      ok      ok     ok        ok
)";

// The table of events. Each row is a state of the session. Each column is a message from the
// upgrader, the end of input or SIGTERM. A cell says what the session does in this state. `told`:
// the program gets an event. `sent`: a message is sent. `exit`: the agent exits immediately.
// `noted`: only the session's state changes. `.`: the event is ignored.
constexpr const char* table_of_happenings = R"(
state         welcome activate stop-u stop-r stop-s accept gate lost failed commit error end   TERM
silent        .       .        .      .      .      .      .    .    .      .      .     exit  exit
starting      told    .        .      .      .      .      .    .    .      .      told  exit  exit
welcomed      .       .        .      .      .      .      .    .    .      .      told  exit  exit
ready         told    told     .      .      .      .      .    .    .      .      told  exit  exit
active        .       .        told   told   told   .      .    .    .      .      told  told  told
trial         .       .        told   told   told   .      .    .    .      told   told  told  told
trial-unfit   .       .        told   told   told   .      .    .    .      told   told  told  told
trial-signal  .       .        noted  noted  noted  .      .    .    .      told   told  noted .
trial-over    .       .        sent   sent   sent   .      .    .    .      .      told  noted .
committed     .       .        told   told   told   .      .    .    .      .      told  told  told
requested     .       .        told   told   told   told   .    .    told   .      told  told  told
asked-over    .       .        sent   sent   sent   .      .    .    .      .      told  noted .
refused       .       .        told   told   told   .      .    .    .      .      told  told  told
accepted      .       .        told   told   told   .      told .    told   .      told  told  told
accept-over   .       .        sent   sent   sent   .      .    .    .      .      told  noted .
accept-shut   .       .        .      .      .      .      .    .    told   .      told  noted noted
gated         .       .        told   told   told   .      .    .    told   .      told  told  told
gated-signal  .       .        noted  noted  noted  .      .    .    told   .      told  noted .
confirmed     .       .        told   told   told   .      .    .    told   .      told  told  told
cancelled     .       .        .      told   told   .      .    .    told   .      told  told  told
told-upgrade  .       .        .      .      .      .      .    told told   .      told  noted noted
told-unasked  .       .        .      .      .      .      .    told told   .      told  noted noted
told-rollback .       .        .      .      .      .      .    .    .      .      told  noted noted
told-shutdown .       .        .      .      .      .      .    .    .      .      told  noted noted
taken-back    .       .        .      told   told   .      .    .    told   .      told  told  told
taken-signal  .       .        .      noted  noted  .      .    .    told   .      told  noted .
signalled     .       .        noted  noted  noted  .      .    .    .      .      told  noted .
signal-told   .       .        .      .      .      .      .    told told   .      told  noted .
told-signal   .       .        .      .      .      .      .    told told   .      told  noted .
gone          .       .        .      .      .      .      .    .    .      .      .     .     noted
told-gone     .       .        .      .      .      .      .    .    .      .      .     .     noted
stopped       .       .        .      .      .      .      .    .    .      .      told  noted .
unsent        .       .        sent   sent   sent   .      .    .    .      .      told  noted .
ended         .       .        .      .      .      .      .    .    .      .      .     exit  exit
exiting       .       .        .      .      .      .      .    .    .      .      .     .     exit
terminated    .       .        .      .      .      .      .    .    .      .      .     exit  exit
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

}  // namespace

TEST_CASE("every call in every state does what the table says") {
  const Table table = parsed(table_of_calls);
  const std::map<std::string, Session> states = all_states();
  REQUIRE(table.size() == states.size());

  for (const auto& [name, session] : states) {
    for (const auto& [call, message] : calls) {
      INFO(name << " (" << session.describe() << "): " << call);
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
      INFO(name << " (" << session.describe() << "): " << happening);
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

}  // namespace session_table_test
