// Tests calls of the agent's C++ interface that are used in no other test.
#include <catch2/catch.hpp>
#include <cerrno>

#include "agent-protocol/agent.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_cpp_calls_test {

using namespace bench;
using agent_protocol::Agent;
using namespace std::chrono_literals;

namespace {

Agent active_agent() {
  std::optional<Agent> agent = Agent::open("1.2");
  if (!agent || !agent->ready()) ::_exit(98);
  while (!std::holds_alternative<Agent::Activate>(agent->wait())) {
  }
  return *std::move(agent);
}

}  // namespace

TEST_CASE("there is one agent at a time, in C++ too") {
  std::optional<Agent> agent = Agent::open();
  REQUIRE(agent);

  CHECK_FALSE(Agent::open("1.2"));
  CHECK(errno == EBUSY);
  CHECK(agent->fd() > STDERR_FILENO);
  CHECK(agent->alone());
  agent.reset();
  CHECK(Agent::open());
}

TEST_CASE("an agent that is held may say that it is unfit, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2");
    return agent && agent->unfit("no disk") ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"no disk"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("an agent on trial may vouch for itself, and stop without a state, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    const bool said = agent.healthy() && agent.heartbeat();
    (void)agent.wait();
    return said && agent.stopped() ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":2,)"
               R"("role":"candidate"})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(activate);
  CHECK(upgrader.hears() == R"({"type":"healthy"})");
  CHECK(upgrader.hears() == R"({"type":"heartbeat"})");
  upgrader.say(stop_shutdown);
  CHECK(upgrader.hears() == R"({"type":"stopped"})");
  CHECK(upgrader.exit_status() == 0);
}

namespace {

const std::string with_nul("one\0two", 7);

// Reports whether a call succeeded, or its error and whether errno is EINVAL.
void report_answer(const Agent& agent, bool answer) {
  report(answer ? "done" : std::string(errno == EINVAL ? "EINVAL: " : "") + agent.error());
  errno = 0;
}

}  // namespace

TEST_CASE("a text that holds U+0000 is refused, and never cut there, in C++") {
  Upgrader upgrader([] {
    report(!Agent::open(with_nul) && errno == EINVAL ? "EINVAL" : "opened");
    errno = 0;
    report(!Agent::open("1.2", {with_nul, "readiness"}) && errno == EINVAL ? "EINVAL" : "opened");
    Agent agent = active_agent();
    errno = 0;
    report_answer(agent, agent.add_check(with_nul, [] { return std::nullopt; }));
    report_answer(agent, agent.unfit(with_nul));
    report_answer(agent, agent.confirm(with_nul));
    report_answer(agent, agent.cancel(with_nul));
    report_answer(agent, agent.cancel("u1", with_nul));
    report_answer(agent, agent.status(with_nul));
    report_answer(agent, agent.request_upgrade({.id = with_nul, .executable = "/agent"}));
    report_answer(agent, agent.request_upgrade({.id = "u1", .executable = "/" + with_nul}));
    report_answer(agent, agent.request_upgrade(
                             {.id = "u1", .executable = "/agent", .args = {{"a", with_nul}}}));
    report_answer(agent, agent.status("one"));
    report_answer(agent, agent.healthy());
    (void)agent.wait();
    report_answer(agent, agent.stopped(with_nul));
    report_answer(agent, agent.stopped(std::string_view()));
    return 0;
  });

  CHECK(upgrader.is_reported() == "EINVAL");
  CHECK(upgrader.is_reported() == "EINVAL");
  upgrader.lead_to_active();
  for (const std::string deed :
       {"add a check", "say unfit", "confirm an upgrade", "cancel an upgrade", "cancel an upgrade",
        "show a status", "request an upgrade", "request an upgrade", "request an upgrade"})
    CHECK(upgrader.is_reported() == "EINVAL: cannot " + deed + ": a text of it holds U+0000");
  CHECK(upgrader.is_reported() == "done");
  CHECK(upgrader.is_reported() == "cannot say healthy: this agent is not on trial");
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() ==
        "EINVAL: cannot say stopped: \"state\" holds U+0000 or a lone surrogate");
  CHECK(upgrader.is_reported() == "done");
  CHECK(upgrader.hears() == R"({"type":"status","text":"one"})");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":""})");
}

TEST_CASE("what a check says that holds U+0000 is told whole, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2");
    agent->add_check("disk", [] { return std::optional<std::string>(with_nul); });
    return !agent->ready() && errno == EILSEQ ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == "{\"type\":\"unfit\",\"reason\":\"disk: one\xef\xbf\xbdtwo\"}");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a state may be any text that C++ has") {
  const int kind = GENERATE(0, 1, 2, 3);
  Upgrader upgrader([kind] {
    Agent agent = active_agent();
    (void)agent.wait();
    if (kind == 0) return agent.stopped("line 7") ? 0 : 1;
    if (kind == 1) return agent.stopped(std::string("line 7")) ? 0 : 1;
    if (kind == 2) return agent.stopped(std::string_view("line 70").substr(0, 6)) ? 0 : 1;
    return agent.stopped(std::optional<std::string>("line 7")) ? 0 : 1;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"line 7"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a negative time of an upgrade is refused, and is not the upgrader's default, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    for (const Agent::Milliseconds time : {-1ms, -2ms, Agent::Milliseconds::min()}) {
      const Agent::Upgrade upgrade{.id = "u1", .executable = "/agent", .trial = time};
      report_answer(agent, agent.request_upgrade(upgrade));
    }
    report_answer(agent, agent.extend(-1ms));
    return 0;
  });

  upgrader.lead_to_active();
  for (int time = 0; time < 3; ++time)
    CHECK_THAT(upgrader.is_reported(),
               Catch::StartsWith("EINVAL: cannot request upgrade u1: \"trial_ms\" is -"));
  CHECK(upgrader.is_reported() == "cannot extend the deadline: this agent is active");
}

TEST_CASE("every choice of an upgrade has its name, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    const bool asked = agent.request_upgrade({.id = "u1",
                                              .executable = "/agent-2",
                                              .mode = Agent::Mode::parallel,
                                              .gate = Agent::Gate::confirm,
                                              .commit = Agent::CommitRule::survive,
                                              .on_unclean_stop = Agent::UncleanStop::fall_back,
                                              .fallback = Agent::Fallback::cold});
    while (!std::holds_alternative<Agent::Accepted>(agent.wait())) {
    }
    return asked && agent.cancel("u1") ? 0 : 1;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.hears() ==
        R"({"type":"upgrade","id":"u1","executable":"/agent-2","mode":"parallel",)"
        R"("gate":"confirm","commit":"survive","on_unclean_stop":"fallback",)"
        R"("fallback":"cold"})");
  upgrader.say(R"({"type":"accepted","id":"u1","generation":2})");
  CHECK(upgrader.hears() == R"({"type":"cancel","id":"u1"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("what is there is told without waiting, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report(agent.next() ? "an event" : "nothing");
    pollfd watched{.fd = agent.fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, agent_patience_ms);
    const std::optional<Agent::Event> event = agent.next();
    report(event && std::holds_alternative<Agent::Error>(*event) ? "an error" : "something else");
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  upgrader.say(R"({"type":"error","about":"odd","reason":"no"})");
  CHECK(upgrader.is_reported() == "an error");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("features are said, and those that both have are told, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2", {"readiness", "odd"});
    if (!agent) return 1;
    const std::optional<Agent::Event> event = agent->wait(std::chrono::minutes(1));
    const auto* welcomed = event ? std::get_if<Agent::Welcome>(&*event) : nullptr;
    if (welcomed == nullptr) return 2;
    for (const std::string& feature : welcomed->features)
      report(feature);
    report(agent->wait(0ms) ? "an event" : "nothing");
    return 0;
  });

  CHECK(upgrader.hears() ==
        R"({"type":"hello","protocol":1,"version":"1.2","features":["readiness","odd"]})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":["readiness"],"generation":1,)"
               R"("role":"first"})");
  CHECK(upgrader.is_reported() == "readiness");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.exit_status() == 0);
}

}  // namespace agent_cpp_calls_test
