// Tests the messages from and to an agent through the C interface. The messages go over real pipes,
// and the test has the upgrader's ends of these pipes. The effects on the agent's process are in
// agent_process_test.cc.
#include <catch2/catch.hpp>
#include <string>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_test {

using namespace bench;

namespace {

const std::string welcome_candidate =
    R"({"type":"welcome","protocol":1,"features":[],"generation":2,)"
    R"("role":"candidate","previous_version":"1"})";
const std::string stop_upgrade =
    R"({"type":"stop","reason":"upgrade","deadline_ms":90000,"id":"u1","generation":2})";
const std::string accepted = R"({"type":"accepted","id":"u1","generation":2})";

int request(agent_protocol_agent* agent, const char* id) {
  agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
  upgrade.id = id;
  upgrade.executable = "/agent-2";
  return agent_protocol_request_upgrade(agent, &upgrade);
}

// Opens the agent's library, sends `ready`, and reports every event to the test, up to and
// including the event for a stop.
agent_protocol_agent* run_until_stop() {
  agent_protocol_agent* agent = agent_protocol_open("1.2");
  if (agent == nullptr || agent_protocol_ready(agent) != 0) ::_exit(98);
  for (;;) {
    const agent_protocol_event* event = agent_protocol_wait(agent, -1);
    report(words(event));
    if (event->type == AGENT_PROTOCOL_STOP) return agent;
  }
}

}  // namespace

TEST_CASE("an agent is led from hello to stopped, and hands its state over") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_stop();
    report_call(agent, "stopped", agent_protocol_stopped(agent, "position \"9\"\n"));
    agent_protocol_close(agent);
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(welcome_candidate);
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(R"({"clean":true,"state":"position \"7\"\n","type":"activate"})");
  upgrader.say(R"({"type":"committed","id":"u0","generation":2})");
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "welcome role=2 generation=2 version=1");
  CHECK(upgrader.is_reported() == "activate clean state=position \"7\"");
  CHECK(upgrader.is_reported() == "");
  CHECK(upgrader.is_reported() == "committed generation=2 id=u0");
  CHECK(upgrader.is_reported() == "stop stop_reason=3 deadline_ms=90000");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"position \"9\"\n"})");
  CHECK(upgrader.exit_status() == 0);
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("every member of every message reaches the program") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    request(agent, "u1");
    for (int i = 0; i < 4; ++i)
      report(words(agent_protocol_wait(agent, -1)));
    request(agent, "u1");
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent-2"})");
  upgrader.say(accepted);
  upgrader.say(R"({"type":"candidate_ready","id":"u1","generation":2,"version":"2"})");
  upgrader.say(stop_upgrade);
  upgrader.say(R"({"type":"candidate_lost","id":"u1","reason":"exited"})");

  CHECK(upgrader.is_reported() == "accepted generation=2 id=u1");
  CHECK(upgrader.is_reported() == "candidate_ready generation=2 id=u1 version=2");
  CHECK(upgrader.is_reported() == "stop stop_reason=1 generation=2 deadline_ms=90000 id=u1");
  CHECK(upgrader.is_reported() == "candidate_lost id=u1 reason=exited");
  upgrader.say(R"({"type":"error","about":"upgrade","reason":"busy stopping"})");
  CHECK(upgrader.is_reported() == "error about=upgrade reason=busy stopping");
}

TEST_CASE("the reasons of a failed upgrade reach the program") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    for (const char* id : {"u1", "u2", "u3", "u4", "u5"}) {
      request(agent, id);
      report(words(agent_protocol_wait(agent, -1)));
    }
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(
      R"({"type":"upgrade_failed","id":"u1","stage":"start","reason":"late","exit_status":3})");
  upgrader.say(R"({"type":"upgrade_failed","id":"u2","stage":"trial","reason":"r","signal":11})");
  upgrader.say(
      R"({"type":"upgrade_failed","id":"u3","stage":"request","reason":"r","errno":"ENOENT"})");
  upgrader.say(
      R"({"type":"upgrade_failed","id":"u4","stage":"stop","reason":"r","signal":5000000000})");
  upgrader.say(R"({"type":"upgrade_failed","id":"u5","stage":"later","reason":"r"})");

  CHECK(upgrader.is_reported() ==
        "upgrade_failed id=u1 reason=late failure(u1 stage=start reason=late exit_status=3)");
  CHECK(upgrader.is_reported() ==
        "upgrade_failed id=u2 reason=r failure(u2 stage=trial reason=r signal=11)");
  CHECK(upgrader.is_reported() ==
        "upgrade_failed id=u3 reason=r failure(u3 stage=request reason=r errno=ENOENT)");
  // 5,000,000,000 is too large for the C interface, so the largest signal number that it can
  // represent is reported instead.
  CHECK(upgrader.is_reported() ==
        "upgrade_failed id=u4 reason=r failure(u4 stage=stop reason=r signal=2147483647)");
  // A later upgrader may name a stage that this library does not know.
  CHECK(upgrader.is_reported() == "upgrade_failed id=u5 reason=r failure(u5 stage=later reason=r)");
}

TEST_CASE("a fallback agent is told what made it necessary") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  upgrader.say(R"({"type":"welcome","protocol":7,"features":[],"generation":3,"role":"fallback",)"
               R"("watchdog_ms":5000,"failure":{"id":"u1","stage":"trial","reason":"crashed",)"
               R"("signal":6,"version":"2"},"later":{"x":[1]}})");

  CHECK(upgrader.is_reported() ==
        "welcome role=3 generation=3 watchdog_ms=5000 "
        "failure(u1 stage=trial reason=crashed version=2 signal=6)");
}

TEST_CASE("a fallback that stood by is told what made it necessary when it is activated") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    if (agent_protocol_ready(agent) != 0) return 1;
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback"})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(R"({"type":"activate","clean":false,"state":"s",)"
               R"("failure":{"id":"u1","stage":"trial","reason":"crashed","exit_status":1,)"
               R"("version":"2"}})");

  CHECK(upgrader.is_reported() == "welcome role=3 generation=3");
  CHECK(upgrader.is_reported() ==
        "activate state=s failure(u1 stage=trial reason=crashed version=2 exit_status=1)");
}

TEST_CASE("all that may be asked of an upgrade is sent") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    const char* const args[] = {"--config", "", nullptr};
    const agent_protocol_upgrade upgrade = {
        sizeof upgrade, "u1", "/agent-2", args, "parallel", "confirm", "healthy",
        "continue",     1,    2,          3,    4,          "warm"};
    report_call(agent, "upgrade", agent_protocol_request_upgrade(agent, &upgrade));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "upgrade: done");
  CHECK(upgrader.hears() ==
        R"({"type":"upgrade","id":"u1","executable":"/agent-2","args":["--config",""],)"
        R"("mode":"parallel","gate":"confirm","commit":"healthy","start_timeout_ms":1,)"
        R"("confirm_timeout_ms":2,"stop_timeout_ms":3,"trial_ms":4,)"
        R"("on_unclean_stop":"continue","fallback":"warm"})");
}

TEST_CASE("of a program that knows fewer members of a request no other is read") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
    upgrade.id = "u1";
    upgrade.executable = "/agent-2";
    upgrade.trial_ms = 4;
    upgrade.fallback = "what lies behind the older structure";
    upgrade.size = offsetof(agent_protocol_upgrade, fallback) - 1;
    report_call(agent, "too small", agent_protocol_request_upgrade(agent, &upgrade));
    upgrade.size = offsetof(agent_protocol_upgrade, fallback);
    report_call(agent, "older", agent_protocol_request_upgrade(agent, &upgrade));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("too small: cannot request an upgrade: "));
  CHECK(upgrader.is_reported() == "older: done");
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent-2","trial_ms":4})");
}

TEST_CASE("a request that is not well formed is refused and leaves no trace") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
    report_call(agent, "no id", agent_protocol_request_upgrade(agent, &upgrade));
    upgrade.id = "u1";
    upgrade.executable = "agent-2";
    report_call(agent, "relative", agent_protocol_request_upgrade(agent, &upgrade));
    upgrade.executable = "/agent-2";
    upgrade.mode = "both";
    report_call(agent, "mode", agent_protocol_request_upgrade(agent, &upgrade));
    upgrade.mode = nullptr;
    upgrade.size = 8;
    report_call(agent, "size", agent_protocol_request_upgrade(agent, &upgrade));
    report_call(agent, "none", agent_protocol_request_upgrade(agent, nullptr));
    report_call(agent, "extend", agent_protocol_extend(agent, 1));
    report_call(agent, "good", request(agent, "u1"));
    report_call(agent, "second", request(agent, "u2"));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("no id: cannot request upgrade : "));
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("relative: cannot request upgrade u1: "));
  CHECK(upgrader.is_reported() == "mode: cannot request an upgrade: mode cannot be \"both\"");
  CHECK_THAT(upgrader.is_reported(), Catch::Contains("AGENT_PROTOCOL_UPGRADE_INIT"));
  CHECK_THAT(upgrader.is_reported(), Catch::Contains("AGENT_PROTOCOL_UPGRADE_INIT"));
  CHECK(upgrader.is_reported() == "extend: cannot extend the deadline: this agent is active");
  CHECK(upgrader.is_reported() == "good: done");
  CHECK(upgrader.is_reported() ==
        "second: cannot request upgrade u2: upgrade u1 has been requested");
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent-2"})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("the small words are sent") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    agent_protocol_extend(agent, 5'000);
    agent_protocol_ready(agent);
    while (agent_protocol_wait(agent, -1)->type != AGENT_PROTOCOL_ACTIVATE) {
    }
    agent_protocol_heartbeat(agent);
    agent_protocol_status(agent, "75 % d\u00e9j\u00e0 vu");
    agent_protocol_healthy(agent);
    agent_protocol_unfit(agent, "no disk");
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == R"({"type":"extend","ms":5000})");
  upgrader.say(welcome_candidate);
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(activate);
  CHECK(upgrader.hears() == R"({"type":"heartbeat"})");
  CHECK(upgrader.hears() == "{\"type\":\"status\",\"text\":\"75 % d\u00e9j\u00e0 vu\"}");
  CHECK(upgrader.hears() == R"({"type":"healthy"})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"no disk"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a cancel takes a stop back, and another stop is confirmed") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    request(agent, "u1");
    while (agent_protocol_wait(agent, -1)->type != AGENT_PROTOCOL_STOP) {
    }
    report_call(agent, "cancel", agent_protocol_cancel(agent, "u1", "not now"));
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_wait(agent, -1)));
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent-2"})");
  upgrader.say(accepted);
  upgrader.say(stop_upgrade);
  CHECK(upgrader.hears() == R"({"type":"cancel","id":"u1","reason":"not now"})");
  upgrader.say(R"({"type":"upgrade_failed","id":"u1","stage":"cancel","reason":"r"})");
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "cancel: done");
  CHECK(upgrader.is_reported() ==
        "upgrade_failed id=u1 reason=r failure(u1 stage=cancel reason=r)");
  CHECK(upgrader.is_reported() == "stop stop_reason=3 deadline_ms=90000");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == R"({"type":"stopped"})");
}

TEST_CASE("a line that is no message for an agent is passed over") {
  Upgrader upgrader([] {
    agent_protocol_stopped(run_until_stop(), nullptr);
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say("stray");
  upgrader.say(R"({"type":"parked"})");
  upgrader.say(R"({"type":"stop","reason":"whim","deadline_ms":1})");
  upgrader.say(R"({"type":"stop","reason":"shutdown","deadline_ms":1.5})");
  upgrader.say(R"({"type":"ready"})");
  upgrader.say(R"({"type":"error","reason":")" + std::string(70'000, 'x') + R"("})");
  // This line is longer than allowed, although its beginning is a complete message.
  std::string stop_and_more = stop_shutdown;
  stop_and_more.insert(stop_and_more.size() - 1, 200 - stop_and_more.size(), ' ');
  upgrader.say(stop_and_more + std::string(70'000, ' '));
  upgrader.say(R"({"type":"error","reason":"told"})");
  upgrader.say(activate);
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "welcome role=1 generation=1");
  CHECK(upgrader.is_reported() == "activate");
  CHECK(upgrader.is_reported() == "error reason=told");
  CHECK(upgrader.is_reported() == "stop stop_reason=3 deadline_ms=90000");
  CHECK(upgrader.hears() == R"({"type":"stopped"})");
}

TEST_CASE("an agent says which features it has, and is told which of them the upgrader has") {
  Upgrader upgrader([] {
    const char* const features[] = {"readiness", "other", nullptr};
    agent_protocol_agent* agent = agent_protocol_open_with("1.2", features);
    if (agent == nullptr || agent_protocol_ready(agent) != 0) return 98;
    const agent_protocol_event* event = agent_protocol_wait(agent, -1);
    for (const char* const* feature = event->features; *feature != nullptr; ++feature)
      report(*feature);
    event = agent_protocol_wait(agent, -1);
    report(event->features == nullptr ? "no features" : "features");
    report_call(agent, "healthy", agent_protocol_healthy(agent));
    return 0;
  });

  CHECK(upgrader.hears() ==
        R"({"type":"hello","protocol":1,"version":"1.2","features":["readiness","other"]})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":["readiness"],"generation":1,)"
               R"("role":"first"})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(R"({"type":"activate","clean":false})");

  CHECK(upgrader.is_reported() == "readiness");
  CHECK(upgrader.is_reported() == "no features");
  CHECK(upgrader.is_reported() == "healthy: done");
  CHECK(upgrader.hears() == R"({"type":"healthy"})");
}

TEST_CASE("if the upgrader has none of an agent's features, welcome has an empty list") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    const agent_protocol_event* event = agent_protocol_wait(agent, -1);
    if (event == nullptr || event->features == nullptr) return 98;
    report(*event->features == nullptr ? "empty" : "not empty");
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(welcome_candidate);
  CHECK(upgrader.is_reported() == "empty");
}

TEST_CASE("a feature whose name cannot be sent is refused, and nothing has been taken") {
  Upgrader upgrader([] {
    const std::string long_name(33, 'x');
    const char* const features[] = {long_name.c_str(), nullptr};
    report(agent_protocol_open_with("1.2", features) == nullptr ? "refused" : "opened");
    report(agent_protocol_open("1.2") == nullptr ? "refused" : "opened");
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.is_reported() == "opened");
}

}  // namespace agent_test
