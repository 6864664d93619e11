// Tests an agent's pipes: ended pipes, full pipes, and the descriptor that the agent's loop polls.
#include <catch2/catch.hpp>
#include <string>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_pipes_test {

using namespace bench;

namespace {

const std::string error_line = R"({"type":"error","reason":"no"})";

// Sends `status` messages until the library refuses one. Returns how many messages it has accepted.
int fill_output(agent_protocol_agent* agent) {
  int count = 0;
  while (agent_protocol_status(agent, std::to_string(count).c_str()) == 0)
    ++count;
  return count;
}

std::string status_line(int number) {
  return R"({"type":"status","text":")" + std::to_string(number) + R"("})";
}

}  // namespace

TEST_CASE("a held agent exits at the end of input, even if it could be activated before it") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    agent_protocol_ready(agent);
    barrier.wait();
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(welcome);
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(activate);
  upgrader.close_input();
  barrier.open();

  CHECK(upgrader.is_reported() == "(end)");
  CHECK(upgrader.exit_status() == 1);
}

TEST_CASE("an active agent is told to stop at the end of input, and is left in peace afterwards") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_next(agent)));
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report_call(agent, "heartbeat", agent_protocol_heartbeat(agent));
    report_call(agent, "stopped", agent_protocol_stopped(agent, "position 7"));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.close_input();

  CHECK(upgrader.is_reported() == "stop stop_reason=5");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "quiet");
  CHECK(upgrader.is_reported() == "heartbeat: cannot send a heartbeat: the upgrader has gone");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == "(end)");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("what came before the end of input is told before it, and a cut-off line is not obeyed") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    report("active");
    barrier.wait();
    report(words(agent_protocol_next(agent)));
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report(words(agent_protocol_next(agent)));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.write_bytes(error_line + "\n" + stop_shutdown);
  upgrader.close_input();
  barrier.open();

  CHECK(upgrader.is_reported() == "error reason=no");
  CHECK(upgrader.is_reported() == "readable");
  CHECK(upgrader.is_reported() == "stop stop_reason=5");
}

TEST_CASE("a line may come byte by byte") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    for (;;) {
      report("reads");
      barrier.wait();
      if (const agent_protocol_event* event = agent_protocol_next(agent)) report(words(event));
    }
    return 0;
  });

  upgrader.lead_to_active();
  for (const char byte : error_line + "\n") {
    CHECK(upgrader.is_reported() == "reads");
    upgrader.write_bytes(std::string(1, byte));
    barrier.open();
  }

  CHECK(upgrader.is_reported() == "error reason=no");
}

TEST_CASE("an upgrader that reads no more has gone") {
  Upgrader active([] {
    agent_protocol_agent* agent = run_until_active();
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_next(agent)));
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });
  Upgrader held([] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    agent_protocol_wait(agent, -1);
    return 0;
  });

  active.lead_to_active();
  CHECK(active.is_reported() == "active");
  active.close_output();
  CHECK(held.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  held.close_output();

  CHECK(active.is_reported() == "stop stop_reason=5");
  CHECK(active.is_reported() == "nothing");
  CHECK(active.is_reported() == "quiet");
  CHECK(active.is_reported() == "stopped: done");
  CHECK(active.exit_status() == 0);
  CHECK(held.exit_status() == 1);
}

TEST_CASE("the descriptor polls readable for as long as there are events, and no longer") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    const int fd = agent_protocol_fd(agent);
    report(words(agent_protocol_next(agent)));
    report(polls_readable(fd) ? "readable" : "quiet");
    barrier.wait();
    report(words(agent_protocol_next(agent)));
    report(polls_readable(fd) ? "readable" : "quiet");
    report(words(agent_protocol_next(agent)));
    report(words(agent_protocol_next(agent)));
    report(polls_readable(fd) ? "readable" : "quiet");
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "quiet");
  upgrader.write_bytes(error_line + "\n" + stop_shutdown + "\n");
  barrier.open();

  CHECK(upgrader.is_reported() == "error reason=no");
  CHECK(upgrader.is_reported() == "readable");
  CHECK(upgrader.is_reported() == "stop stop_reason=3 deadline_ms=90000");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "quiet");
}

TEST_CASE("a wait ends when its time is over") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report(words(agent_protocol_wait(agent, 0)));
    report(words(agent_protocol_wait(agent, 20)));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
}

TEST_CASE("an upgrader that does not read blocks nobody, and loses nothing that was taken") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    const int count = fill_output(agent);
    report(agent_protocol_error(agent));
    report(std::to_string(count));
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_next(agent)));
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() ==
        "cannot show a status: the upgrader does not read what has been sent");
  const int count = std::stoi(upgrader.is_reported());
  CHECK(count > 131'072 / 40);
  for (int i = 0; i < count; ++i)
    REQUIRE(upgrader.hears() == status_line(i));
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "stop stop_reason=3 deadline_ms=90000");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "quiet");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == R"({"type":"stopped"})");
}

TEST_CASE("two full pipes do not wait for each other") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    report(std::to_string(fill_output(agent)));
    report_call(agent, "stopped", agent_protocol_stopped(agent, std::string(32'768, 's').c_str()));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  const int count = std::stoi(upgrader.is_reported());
  // These 20,000 lines do not fit into the pipes. The test writes all of them before it reads
  // anything from the agent.
  std::string errors;
  for (int i = 0; i < 20'000; ++i)
    errors += error_line + "\n";
  upgrader.write_bytes(errors);

  for (int i = 0; i < count; ++i)
    REQUIRE(upgrader.hears() == status_line(i));
  CHECK(upgrader.hears() == R"({"type":"stopped","state":")" + std::string(32'768, 's') + R"("})");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a flood of messages is taken in whole") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    int errors = 0;
    while (agent_protocol_wait(agent, -1)->type == AGENT_PROTOCOL_ERROR)
      ++errors;
    report(std::to_string(errors));
    return 0;
  });

  upgrader.lead_to_active();
  std::string errors;
  for (int i = 0; i < 20'000; ++i)
    errors += error_line + "\n";
  upgrader.write_bytes(errors);
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "20000");
}

TEST_CASE("the pipes stay blocking, whatever passes through them") {
  Upgrader upgrader([] {
    // The flag O_NONBLOCK belongs to the open file, and not to a descriptor. So it can be read from
    // `input` and `output`, which are copies of the agent's descriptors.
    const int input = ::dup(STDIN_FILENO);
    const int output = ::dup(STDOUT_FILENO);
    agent_protocol_agent* agent = run_until_active();
    fill_output(agent);
    agent_protocol_wait(agent, -1);
    const int flags = ::fcntl(input, F_GETFL) | ::fcntl(output, F_GETFL);
    report((flags & O_NONBLOCK) == 0 ? "blocking" : "not blocking");
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "blocking");
}

}  // namespace agent_pipes_test
