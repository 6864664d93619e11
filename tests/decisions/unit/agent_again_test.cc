// Tests that a process has at most one conversation with its upgrader. After this conversation, the
// process's environment no longer names an upgrader. It must not conclude that it runs without an
// upgrader: it would then activate itself beside the active agent.
#include <sys/prctl.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "agent-protocol/agent.h"
#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_again_test {

using namespace bench;

namespace {

constexpr const char* mark = "LIBAGENT_PROTOCOL_PROCESS";

// Tries to open the agent's library once more. Reports to the test whether that was refused.
void open_again() {
  errno = 0;
  agent_protocol_agent* agent = agent_protocol_open("1.2");
  if (agent == nullptr) {
    report(errno == ENOTCONN ? "refused" : std::string("errno ") + std::to_string(errno));
    return;
  }
  const bool alone = agent_protocol_alone(agent) == 1;
  agent_protocol_ready(agent);
  report(alone ? words(agent_protocol_wait(agent, 0)) : "an upgrader is there");
  agent_protocol_close(agent);
}

// Executes this test program anew with only the hidden test of this file. If a `command` is given,
// a shell runs that command, and has the path of this program as its $0.
void execute_anew(const char* command = nullptr) {
  const char* self = "/proc/self/exe";
  if (command == nullptr) {
    ::execl(self, "agent", "opens in a program that was executed", nullptr);
  } else {
    char path[4096] = {};
    if (::readlink(self, path, sizeof path - 1) < 0) ::_exit(94);
    ::execl("/bin/sh", "sh", "-c", command, path, nullptr);
  }
  ::_exit(95);
}

std::string value_of_mark() {
  const char* value = std::getenv(mark);
  return value == nullptr ? "" : value;
}

void talk() {
  agent_protocol_close(agent_protocol_open("1.2"));
}

void talk_alone() {
  ::unsetenv("AGENT_PROTOCOL");
  talk();
}

}  // namespace

TEST_CASE("opens in a program that was executed", "[.]") {
  open_again();
  ::_exit(0);
}

TEST_CASE("an agent that opens, closes and opens again is refused, and not activated") {
  Upgrader upgrader([] {
    talk();
    open_again();
    ::clearenv();
    open_again();
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("an agent that opens again is refused in C++ too") {
  using agent_protocol::Agent;
  Upgrader upgrader([] {
    Agent::open("1.2").reset();
    errno = 0;
    report(!Agent::open("1.2") && errno == ENOTCONN ? "refused" : "opened");
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
}

TEST_CASE("an agent that executes itself anew cannot open again, closed or not") {
  const bool closes = GENERATE(false, true);
  Upgrader upgrader([closes] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    if (closes) agent_protocol_close(agent);
    execute_anew();
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == "(end)");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a process that was forked from an agent cannot open either") {
  Upgrader upgrader([] {
    talk();
    const pid_t child = ::fork();
    if (child == 0) {
      open_again();
      ::_exit(0);
    }
    return status_of(child);
  });

  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a program that an agent starts is a process of its own, and runs alone") {
  Upgrader upgrader([] {
    agent_protocol_open("1.2");
    const pid_t child = ::fork();
    if (child == 0) execute_anew();
    return status_of(child);
  });

  CHECK(upgrader.is_reported() == "activate");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a program that was started without an upgrader may open as often as it likes") {
  Upgrader nobody([] {
    talk_alone();
    open_again();
    execute_anew();
    return 0;
  });

  CHECK(nobody.is_reported() == "activate");
  CHECK(nobody.is_reported() == "activate");
  CHECK(nobody.exit_status() == 0);
}

TEST_CASE("a process that is given an upgrader once more may talk to it") {
  Upgrader upgrader([] {
    const int input = ::dup(STDIN_FILENO);
    const int output = ::dup(STDOUT_FILENO);
    talk();
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::setenv("AGENT_PROTOCOL", "1", 1);
    open_again();
    return 0;
  });

  CHECK(upgrader.is_reported() == "an upgrader is there");
}

TEST_CASE("the mark of an agent that has started this one is replaced") {
  Upgrader upgrader([] {
    ::setenv(mark, "1 1", 1);
    talk();
    execute_anew();
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
}

TEST_CASE("an open that failed may be made again") {
  Upgrader upgrader([] {
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    report(agent_protocol_open("1.2") == nullptr ? "no input" : "opened");
    ::dup2(input, STDIN_FILENO);
    open_again();
    return 0;
  });

  CHECK(upgrader.is_reported() == "no input");
  CHECK(upgrader.is_reported() == "an upgrader is there");
}

TEST_CASE("the mark of another process that had this one's number says nothing of this one") {
  const std::string command =
      GENERATE(as<std::string>(),
               // No value of the mark LIBAGENT_PROTOCOL_PROCESS in this list proves that the
               // process had a conversation. The first value has another start time, and the second
               // has another pid. The library never writes the last three values.
               R"(LIBAGENT_PROTOCOL_PROCESS="$$ 1")",
               R"(LIBAGENT_PROTOCOL_PROCESS="1${LIBAGENT_PROTOCOL_PROCESS}")",
               R"(LIBAGENT_PROTOCOL_PROCESS="$$")", R"(LIBAGENT_PROTOCOL_PROCESS="")",
               R"(LIBAGENT_PROTOCOL_PROCESS="x")");
  Upgrader upgrader([&command] {
    talk();
    execute_anew((command + R"( exec "$0" "opens in a program that was executed")").c_str());
    return 0;
  });

  INFO(command);
  CHECK(upgrader.is_reported() == "activate");
}

TEST_CASE("the mark names the process and its start, and an unknown start is any") {
  Upgrader upgrader([] {
    talk();
    report(value_of_mark().starts_with(std::to_string(::getpid()) + " ") ? "named" : "not named");
    execute_anew(R"(LIBAGENT_PROTOCOL_PROCESS="$$ 0" exec "$0" )"
                 R"("opens in a program that was executed")");
    return 0;
  });

  CHECK(upgrader.is_reported() == "named");
  CHECK(upgrader.is_reported() == "refused");
}

namespace {

// Returns the start time of this process as the kernel shows it. Works only if the process's name
// has no blanks.
std::string start_of_process() {
  std::ifstream stat("/proc/self/stat");
  std::string field;
  for (int number = 1; number <= 22; ++number)
    stat >> field;
  return field;
}

}  // namespace

TEST_CASE("the mark has the start of the process, whatever its name") {
  const std::string name = GENERATE("agent", ") R 1 2", "a b)", "has a blank ");
  Upgrader upgrader([&name] {
    ::prctl(PR_SET_NAME, name.c_str());
    talk();
    ::prctl(PR_SET_NAME, "agent");
    const bool found = value_of_mark() == std::to_string(::getpid()) + " " + start_of_process();
    report(found ? "found" : value_of_mark());
    return 0;
  });

  INFO(name);
  CHECK(upgrader.is_reported() == "found");
}

TEST_CASE("alone, a program's environment is left as it is") {
  Upgrader nobody([] {
    talk_alone();
    report("mark '" + value_of_mark() + "'");
    return 0;
  });

  CHECK(nobody.is_reported() == "mark ''");
}

}  // namespace agent_again_test
