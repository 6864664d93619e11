// Tests the start-up checks of an agent. The checks must run in order, before the agent sends
// `ready`, and the first failure must be sent to the upgrader.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <string>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_checks_test {

using namespace bench;

namespace {

int pass(void* name, char* reason, std::size_t) {
  report(std::string("ran ") + static_cast<const char*>(name) + (*reason == '\0' ? "" : " dirty"));
  return 0;
}

int fail_with(void* why, char* reason, std::size_t size) {
  std::snprintf(reason, size, "%s", static_cast<const char*>(why));
  return 1;
}

// A start-up check that fails with a reason that fills the whole buffer, with a NUL at its end.
int fail_to_the_end(void*, char* reason, std::size_t size) {
  std::memset(reason, 'x', size - 1);
  return -1;
}

// A start-up check that fails with a reason that fills the whole buffer, without a NUL.
int fail_at_length(void*, char* reason, std::size_t size) {
  std::memset(reason, 'x', size);
  return -1;
}

int wait_for_test(void* barrier, char*, std::size_t) {
  report("in the check");
  static_cast<Barrier*>(barrier)->wait();
  return 0;
}

char one[] = "one";
char two[] = "two";
char full[] = "no space is left";
char nothing[] = "";

int say_ready(agent_protocol_agent* agent) {
  const int answer = agent_protocol_ready(agent);
  report(answer == 0 ? "ready" : agent_protocol_error(agent));
  return answer;
}

}  // namespace

TEST_CASE("checks run in order, and then ready is said") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    report_call(agent, "one", agent_protocol_add_check(agent, "one", &pass, one));
    report_call(agent, "two", agent_protocol_add_check(agent, "two", &pass, two));
    say_ready(agent);
    agent_protocol_add_check(agent, "three", &pass, full);
    say_ready(agent);
    return 0;
  });

  CHECK(upgrader.is_reported() == "one: done");
  CHECK(upgrader.is_reported() == "two: done");
  CHECK(upgrader.is_reported() == "ran one");
  CHECK(upgrader.is_reported() == "ran two");
  CHECK(upgrader.is_reported() == "ready");
  CHECK(upgrader.is_reported() == "cannot say ready: this agent has said ready and is held");
  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("the first check that fails is said as unfit, and no other runs") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "one", &pass, one);
    agent_protocol_add_check(agent, "disk", &fail_with, full);
    agent_protocol_add_check(agent, "two", &pass, two);
    return say_ready(agent) == -1 ? 7 : 0;
  });

  CHECK(upgrader.is_reported() == "ran one");
  CHECK(upgrader.is_reported() == "cannot say ready: disk: no space is left");
  CHECK(upgrader.is_reported() == "(end)");
  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"disk: no space is left"})");
  CHECK(upgrader.exit_status() == 7);
}

TEST_CASE("a check's reason may be as long as its buffer, and one that is longer shows it") {
  Upgrader with_whole([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "whole", &fail_to_the_end, nullptr);
    return agent_protocol_ready(agent) == -1 && errno == ECANCELED ? 0 : 1;
  });
  Upgrader with_more([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "long", &fail_at_length, nullptr);
    return agent_protocol_ready(agent) == -1 && errno == EMSGSIZE ? 0 : 1;
  });

  CHECK(with_whole.hears() == R"({"type":"hello","protocol":1})");
  CHECK(with_whole.hears() ==
        R"({"type":"unfit","reason":"whole: )" + std::string(1'024 - 7, 'x') + R"("})");
  CHECK(with_whole.exit_status() == 0);
  CHECK(with_more.hears() == R"({"type":"hello","protocol":1})");
  CHECK(with_more.hears() ==
        R"({"type":"unfit","reason":"long: )" + std::string(1'024 - 9, 'x') + R"(..."})");
  CHECK(with_more.exit_status() == 0);
}

TEST_CASE("a check's reason is never missing") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "disk", &fail_with, nothing);
    return agent_protocol_ready(agent);
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"disk: failed"})");
}

TEST_CASE("an agent whose upgrader goes during a check runs no other and exits at once") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "slow", &wait_for_test, &barrier);
    agent_protocol_add_check(agent, "two", &pass, two);
    agent_protocol_ready(agent);
    return 0;
  });

  CHECK(upgrader.is_reported() == "in the check");
  upgrader.close_input();
  barrier.open();

  CHECK(upgrader.is_reported() == "(end)");
  CHECK(upgrader.exit_status() == 1);
}

TEST_CASE("an agent whose upgrader goes during its last check does not become ready") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "slow", &wait_for_test, &barrier);
    say_ready(agent);
    return 0;
  });

  CHECK(upgrader.is_reported() == "in the check");
  upgrader.close_input();
  barrier.open();

  CHECK(upgrader.is_reported() == "(end)");
  CHECK(upgrader.exit_status() == 1);
}

TEST_CASE("SIGTERM ends an agent whose check hangs") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    agent_protocol_add_check(agent, "hang", &wait_for_test, &barrier);
    return agent_protocol_ready(agent);
  });

  CHECK(upgrader.is_reported() == "in the check");
  upgrader.signal(SIGTERM);

  CHECK(upgrader.exit_status() == 143);
}

TEST_CASE("a check needs a name and a function") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    const int answer = agent_protocol_add_check(agent, nullptr, &pass, one);
    report(std::to_string(answer) + " " + agent_protocol_error(agent));
    return agent_protocol_add_check(agent, "one", nullptr, one);
  });

  CHECK(upgrader.is_reported() == "-1 cannot add a check: it needs a name and a function");
  CHECK(upgrader.exit_status() == 255);
}

}  // namespace agent_checks_test
