// Tests how the agent's library waits in the kernel: by one long call instead of many short ones,
// and only while it has nothing to do. Functions of the library that must return at once must never
// wait.
#include <cerrno>
#include <chrono>
#include <limits>

#include "agent-protocol/agent.h"
#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"
#include "tests/decisions/unit/failing_calls.h"

namespace failing_agent_waits_test {

using namespace bench;
using agent_protocol::Agent;
using namespace std::chrono_literals;

namespace {

const std::string error_line = R"({"type":"error","reason":"no"})";

// Makes the agent report every poll() whose time limit is not 0.
void report_waits() {
  at_poll = [](int timeout_ms) {
    if (timeout_ms != 0) report("waits " + std::to_string(timeout_ms));
  };
}

// Returns the number in a report such as "waits 20", or 0 for any other report.
int milliseconds_of(const std::string& report) {
  return report.starts_with("waits ") ? std::stoi(report.substr(6)) : 0;
}

Agent active_agent() {
  std::optional<Agent> agent = Agent::open("1.2");
  if (!agent || !agent->ready()) ::_exit(98);
  while (!std::holds_alternative<Agent::Activate>(agent->wait())) {
  }
  return *std::move(agent);
}

void report_event(const std::optional<Agent::Event>& event) {
  bench::report(event ? "an event" : "nothing");
}

}  // namespace

TEST_CASE("a wait without limit is one wait without limit") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);

  CHECK(upgrader.is_reported() == "error reason=no");
}

TEST_CASE("a wait without limit is one wait without limit, in C++ too") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    report_event(agent.wait());
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);
  CHECK(upgrader.is_reported() == "an event");
}

TEST_CASE("a wait for a time that has passed is over at once") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, -2)));
    report(words(agent_protocol_wait(agent, std::numeric_limits<int>::min())));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("a wait until a moment that has passed is over at once, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    for (const Agent::Milliseconds late : {-1ms, -2ms, Agent::Milliseconds::min()})
      report_event(agent.wait(late));
    return 0;
  });

  upgrader.lead_to_active();
  for (int wait = 0; wait < 3; ++wait)
    CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("a wait of some time waits for no more of it than is left") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, 50'000)));
    report(words(agent_protocol_wait(agent, 20)));
    report(words(agent_protocol_wait(agent, 0)));
    return 0;
  });

  upgrader.lead_to_active();
  const int first = milliseconds_of(upgrader.is_reported());
  CHECK(first > 0);
  CHECK(first <= 50'000);
  upgrader.say(error_line);
  CHECK(upgrader.is_reported() == "error reason=no");

  // On a busy machine, a limit of 20 ms may be over before the library begins to wait. Then the
  // agent reports no wait.
  std::string answer = upgrader.is_reported();
  if (const int second = milliseconds_of(answer); second != 0) {
    CHECK(second > 0);
    CHECK(second <= 20);
    answer = upgrader.is_reported();
  }
  CHECK(answer == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("more time than an int holds is as long as one holds, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    report_event(agent.wait(1'000h));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(milliseconds_of(upgrader.is_reported()) > 2'147'000'000);
  upgrader.say(error_line);

  CHECK(upgrader.is_reported() == "an event");
}

TEST_CASE("an agent that stops waits until its last word is taken, and nothing else does") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    report_waits();
    int count = 0;
    while (agent_protocol_status(agent, "busy") == 0)
      ++count;
    report(std::to_string(count));
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  const int count = std::stoi(upgrader.is_reported());
  CHECK(upgrader.is_reported() == "waits -1");
  for (int i = 0; i < count; ++i)
    REQUIRE(upgrader.hears() == R"({"type":"status","text":"busy"})");
  CHECK(upgrader.hears() == R"({"type":"stopped"})");

  std::string answer = upgrader.is_reported();
  while (answer == "waits -1")
    answer = upgrader.is_reported();
  CHECK(answer == "stopped: done");
}

TEST_CASE("what is said while the agent waits for its last word is kept, and may be asked for") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report_waits();
    agent_protocol_stopped(agent, nullptr);
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report(words(agent_protocol_next(agent)));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);
  // The library's output is still full. It reads the message from the upgrader, and then waits for
  // room to write.
  CHECK(upgrader.is_reported() == "waits -1");
  while (upgrader.hears() != R"({"type":"stopped"})") {
  }

  std::string answer = upgrader.is_reported();
  while (answer == "waits -1")
    answer = upgrader.is_reported();
  CHECK(answer == "readable");
  CHECK(upgrader.is_reported() == "error reason=no");
}

TEST_CASE("more messages than an agent keeps do not keep its last word") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report_waits();
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() == "waits -1");
  std::string news;
  for (int i = 0; i < 300; ++i)
    news += R"({"type":"committed","id":"u1","generation":2})"
            "\n";
  upgrader.write_bytes(news);
  CHECK(upgrader.is_reported() == "waits -1");
  while (upgrader.hears() != R"({"type":"stopped"})") {
  }

  std::string answer = upgrader.is_reported();
  while (answer == "waits -1")
    answer = upgrader.is_reported();
  CHECK(answer == "stopped: done");
}

TEST_CASE("an upgrader that has gone, but keeps a pipe that is full, is not waited for") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report("full");
    report(words(agent_protocol_wait(agent, -1)));
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "full");
  upgrader.close_input();

  CHECK(upgrader.is_reported() == "stop stop_reason=5");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.exit_status() == 0);
}

}  // namespace failing_agent_waits_test
