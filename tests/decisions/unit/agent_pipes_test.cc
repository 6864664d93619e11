// Tests an agent's pipes: closed pipes, full pipes, and the descriptor that the agent's event loop
// polls. Also tests the library's channel over the two pipes: how many bytes the channel buffers,
// and when it reads and writes.
#include <limits.h>
#include <sys/ioctl.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/cpp/agent/agent_channel.h"
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
    // The flag O_NONBLOCK belongs to the open file description, and not to a descriptor. So the
    // flag can be read from `input` and `output`, which are copies of the agent's descriptors.
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

// ---- the library's channel, which reads and writes an agent's two pipes

using namespace agent_protocol;

namespace {

const std::string whole_error_line = R"({"type":"error","reason":"no"})"
                                     "\n";
constexpr std::size_t pipe_bytes = 65'536;

// A channel over two pipes. The other ends of the pipes are in the same process, where the test
// uses them.
class Ends {
  bench::Pipe input_;
  bench::Pipe output_;

 public:
  Channel channel{Pipes{.input = Descriptor::private_copy_of(input_.reader()),
                        .output = Descriptor::private_copy_of(output_.writer())}};

  void say(std::string_view bytes) const {
    REQUIRE(::write(input_.writer(), bytes.data(), bytes.size()) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void leave_output() {
    output_.close_writer();
    output_.close_reader();
  }
  [[nodiscard]] std::size_t unread_input() const { return waiting_in(input_.reader()); }
  [[nodiscard]] std::size_t unread_output() const { return waiting_in(output_.reader()); }
  void read_output(std::size_t count) const {
    std::string bytes(count, '\0');
    REQUIRE(::read(output_.reader(), bytes.data(), count) == static_cast<ssize_t>(count));
  }

 private:
  static std::size_t waiting_in(int reader) {
    int count = 0;
    REQUIRE(::ioctl(reader, FIONREAD, &count) == 0);
    return static_cast<std::size_t>(count);
  }
};

std::string times(std::size_t count, const std::string& line) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i)
    lines += line;
  return lines;
}

std::size_t take_all(Channel& channel) {
  std::size_t count = 0;
  while (channel.take())
    ++count;
  return count;
}

}  // namespace

TEST_CASE("as much output is kept as the upgrader keeps of its own, to the byte") {
  Ends ends;
  ends.channel.queue(std::string(131'000, 'x'));

  CHECK(ends.channel.has_room_for(std::string(72, 'x')));
  CHECK_FALSE(ends.channel.has_room_for(std::string(73, 'x')));
}

TEST_CASE("messages that the program does not ask for wait in the pipe") {
  Ends ends;
  const std::string errors = times(pipe_bytes / whole_error_line.size(), whole_error_line);
  ends.say(errors);
  ends.channel.exchange();
  CHECK(ends.unread_input() == 0);

  ends.say(errors);
  ends.channel.exchange();

  CHECK(ends.unread_input() == errors.size());
}

TEST_CASE("a pipe that has room for one page is written no more, and does not block") {
  Ends ends;
  ends.channel.queue(std::string(pipe_bytes + 3 * PIPE_BUF, 'x'));
  ends.channel.exchange();
  REQUIRE(ends.unread_output() == pipe_bytes);
  ends.read_output(PIPE_BUF);

  ends.channel.exchange();

  CHECK(ends.unread_output() == pipe_bytes);
  CHECK(ends.channel.output_waits());
}

TEST_CASE("messages that came while the output was flushed can be read") {
  Ends ends;
  ends.say(whole_error_line);
  ends.channel.queue("x\n");

  ends.channel.flush();

  CHECK_FALSE(ends.channel.output_waits());
  CHECK(ends.channel.input_waits());
  CHECK(ends.channel.take());
  CHECK_FALSE(ends.channel.input_waits());
}

TEST_CASE("if nobody reads the output any more, the input is read first, and then it is over") {
  Ends ends;
  ends.say(times(10, whole_error_line));
  ends.channel.queue("x\n");
  ends.leave_output();

  ends.channel.exchange();

  CHECK(ends.channel.over());
  CHECK_FALSE(ends.channel.output_waits());
  CHECK(take_all(ends.channel) == 10);
}

TEST_CASE("it is not over while there are more messages than are kept") {
  Ends ends;
  ends.say(times(300, whole_error_line));
  ends.leave_output();

  ends.channel.exchange();
  CHECK_FALSE(ends.channel.over());

  CHECK(take_all(ends.channel) == 300);
  CHECK_FALSE(ends.channel.over());
  ends.channel.exchange();
  CHECK(ends.channel.over());
}

}  // namespace agent_pipes_test
