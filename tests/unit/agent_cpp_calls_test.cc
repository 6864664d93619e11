// The C++ interface, call by call: what a story does not come across.
#include <catch2/catch.hpp>
#include <cerrno>

#include "agent-protocol/agent.h"
#include "tests/unit/agent_bench.h"

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

TEST_CASE("every choice of an upgrade has its name, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    const bool asked = agent.request_upgrade({.id = "u1",
                                              .executable = "/agent-2",
                                              .mode = Agent::Mode::parallel,
                                              .gate = Agent::Gate::confirm,
                                              .commit = Agent::CommitRule::survive,
                                              .on_unclean_stop = Agent::UncleanStop::fall_back});
    while (!std::holds_alternative<Agent::Accepted>(agent.wait())) {
    }
    return asked && agent.cancel("u1") ? 0 : 1;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.hears() ==
        R"({"type":"upgrade","id":"u1","executable":"/agent-2","mode":"parallel",)"
        R"("gate":"confirm","commit":"survive","on_unclean_stop":"fallback"})");
  upgrader.say(R"({"type":"accepted","id":"u1","generation":2})");
  CHECK(upgrader.hears() == R"({"type":"cancel","id":"u1"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("what is there is told without waiting, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report(agent.next() ? "an event" : "nothing");
    pollfd watched{.fd = agent.fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, patience_ms);
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
