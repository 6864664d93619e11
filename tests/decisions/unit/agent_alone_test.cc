// Tests an agent that is started without an upgrader. Such an agent passes through the same states
// as an agent with an upgrader, and its standard input and output are not used for the protocol.
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_alone_test {

using namespace bench;

namespace {

void leave_alone() {
  ::unsetenv("AGENT_PROTOCOL");
}

int refuse(void*, char* reason, std::size_t size) {
  std::snprintf(reason, size, "no such file");
  return 1;
}

}  // namespace

TEST_CASE("alone, ready is followed by activate, and SIGTERM comes as stop") {
  Upgrader nobody(
      [] {
        agent_protocol_agent* agent = agent_protocol_open("1.2");
        report(agent_protocol_alone(agent) == 1 ? "alone" : "not alone");
        report(words(agent_protocol_next(agent)));
        report_call(agent, "ready", agent_protocol_ready(agent));
        report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
        report(words(agent_protocol_wait(agent, -1)));
        report(words(agent_protocol_wait(agent, -1)));
        report_call(agent, "stopped", agent_protocol_stopped(agent, "position 7"));
        agent_protocol_close(agent);
        return 0;
      },
      &leave_alone);

  CHECK(nobody.is_reported() == "alone");
  CHECK(nobody.is_reported() == "nothing");
  CHECK(nobody.is_reported() == "ready: done");
  CHECK(nobody.is_reported() == "readable");
  CHECK(nobody.is_reported() == "activate");
  nobody.signal(SIGTERM);
  CHECK(nobody.is_reported() == "stop stop_reason=4");
  CHECK(nobody.is_reported() == "stopped: done");
  CHECK(nobody.exit_status() == 0);
  CHECK(nobody.hears() == "(end)");
}

TEST_CASE("alone, input and output are the program's own") {
  Upgrader nobody(
      [] {
        agent_protocol_agent* agent = agent_protocol_open("1.2");
        char line[16] = {};
        if (std::fgets(line, sizeof line, stdin) == nullptr) return 1;
        std::printf("read %s", line);
        std::fflush(stdout);
        agent_protocol_close(agent);
        return 0;
      },
      &leave_alone);

  nobody.say("a line");

  CHECK(nobody.hears() == "read a line");
  CHECK(nobody.exit_status() == 0);
}

TEST_CASE("alone, an upgrade is refused, and everything else does nothing") {
  Upgrader nobody(
      [] {
        agent_protocol_agent* agent = agent_protocol_open("1.2");
        agent_protocol_ready(agent);
        agent_protocol_wait(agent, -1);
        agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
        upgrade.id = "u1";
        upgrade.executable = "/agent-2";
        report_call(agent, "upgrade", agent_protocol_request_upgrade(agent, &upgrade));
        report_call(agent, "confirm", agent_protocol_confirm(agent, "u1"));
        report_call(agent, "cancel", agent_protocol_cancel(agent, "u1", nullptr));
        report_call(agent, "healthy", agent_protocol_healthy(agent));
        report_call(agent, "extend", agent_protocol_extend(agent, 1));
        report_call(agent, "heartbeat", agent_protocol_heartbeat(agent));
        report_call(agent, "status", agent_protocol_status(agent, "busy"));
        report_call(agent, "unfit", agent_protocol_unfit(agent, "broken"));
        report(words(agent_protocol_wait(agent, 0)));
        return 0;
      },
      &leave_alone);

  CHECK(nobody.is_reported() == "upgrade: cannot request upgrade u1: there is no upgrader");
  for (const char* call :
       {"confirm", "cancel", "healthy", "extend", "heartbeat", "status", "unfit"}) {
    CHECK(nobody.is_reported() == std::string(call) + ": done");
  }
  CHECK(nobody.is_reported() == "nothing");
  CHECK(nobody.hears() == "(end)");
}

TEST_CASE("alone, a check that fails still keeps the agent from being ready") {
  Upgrader nobody(
      [] {
        agent_protocol_agent* agent = agent_protocol_open("1.2");
        agent_protocol_add_check(agent, "configuration", &refuse, nullptr);
        report_call(agent, "ready", agent_protocol_ready(agent));
        report(words(agent_protocol_wait(agent, 0)));
        return 1;
      },
      &leave_alone);

  CHECK(nobody.is_reported() == "ready: cannot say ready: configuration: no such file");
  CHECK(nobody.is_reported() == "nothing");
}

TEST_CASE("alone, SIGTERM ends an agent that is not ready") {
  Barrier barrier;
  Upgrader nobody(
      [&barrier] {
        agent_protocol_open("1.2");
        report("open");
        barrier.wait();
        return 0;
      },
      &leave_alone);

  CHECK(nobody.is_reported() == "open");
  nobody.signal(SIGTERM);

  CHECK(nobody.exit_status() == 143);
}

}  // namespace agent_alone_test
