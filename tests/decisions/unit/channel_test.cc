// Tests the upgrader's channel to an agent. If the pipe to the agent is full, the channel must
// buffer bytes for the agent, up to a limit. The channel must wake the event loop only for events
// that the upgrader waits for, such as room in a full pipe. failing_loop_test.cc tests the channel
// with failing system calls.
#include "upgrader/shell/channel.h"

#include <fcntl.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <memory>

#include "tests/decisions/unit/counted_memory.h"

namespace channel_test {

using namespace upgrader;

namespace {

// A channel on an event loop. The test has the other ends of the channel's two pipes. The pipe to
// the agent has the capacity of one page.
struct Bench {
  Bench() {
    ::signal(SIGPIPE, SIG_IGN);
    REQUIRE(uv_loop_init(&loop) == 0);
    OwnedFd input;
    OwnedFd output;
    make_pipe(agent_input, input);
    make_pipe(output, agent_output);
    pipe_bytes = static_cast<std::size_t>(::fcntl(input.get(), F_SETPIPE_SZ, 4'096));
    REQUIRE(pipe_bytes >= 4'096);
    channel = std::make_unique<Channel>(
        &loop, std::move(input), std::move(output), [this] { ++readable; }, [this] { ++writable; });
    REQUIRE(channel->output_open());
  }
  ~Bench() {
    channel.reset();
    while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
    }
    uv_loop_close(&loop);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void turn() { uv_run(&loop, UV_RUN_NOWAIT); }
  // Reads the agent's input until the pipe is empty. Returns the number of bytes.
  [[nodiscard]] std::size_t take() const {
    std::size_t all = 0;
    char bytes[4'096];
    for (ssize_t count = 0; (count = ::read(agent_input.get(), bytes, sizeof bytes)) > 0;)
      all += static_cast<std::size_t>(count);
    return all;
  }
  void say(const std::string& text) const {
    REQUIRE(::write(agent_output.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
  }

  uv_loop_t loop{};
  OwnedFd agent_input;
  OwnedFd agent_output;
  std::size_t pipe_bytes = 0;
  int readable = 0;
  int writable = 0;
  std::unique_ptr<Channel> channel;

 private:
  static void make_pipe(OwnedFd& reader, OwnedFd& writer) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
};

std::string bytes_of(std::size_t count) {
  return std::string(count, 'x');
}

}  // namespace

TEST_CASE("exactly as much is kept unsent as the limit says") {
  Bench bench;
  REQUIRE(bench.channel->send(bytes_of(bench.pipe_bytes)));
  REQUIRE(bench.channel->unsent() == 0);

  CHECK(bench.channel->send(bytes_of(unsent_bytes_max - 1)));
  CHECK(bench.channel->send("x"));
  CHECK(bench.channel->unsent() == unsent_bytes_max);
  CHECK_FALSE(bench.channel->send("x"));
  CHECK(bench.channel->unsent() == 0);
  CHECK_FALSE(bench.channel->send("x"));
  CHECK_FALSE(bench.channel->flush());
}

TEST_CASE("unsent bytes are sent in order, as the agent reads them") {
  Bench bench;
  std::string all;
  for (int i = 0; i < 5'000; ++i)
    all += std::to_string(i) + "\n";
  REQUIRE(bench.channel->send(all));

  std::string got;
  char bytes[1'000];
  for (ssize_t count = 0; (count = ::read(bench.agent_input.get(), bytes, sizeof bytes)) > 0;) {
    got.append(bytes, static_cast<std::size_t>(count));
    CHECK(bench.channel->flush());
  }

  CHECK(got == all);
  CHECK(bench.channel->unsent() == 0);
}

TEST_CASE("bytes that were sent take no memory, even if some bytes are always unsent") {
  Bench bench;
  const std::string line = bytes_of(bench.pipe_bytes);
  REQUIRE(bench.channel->send(line + line));
  const agent_protocol::wire_test::CountedMemory memory;

  for (int i = 0; i < 500; ++i) {
    REQUIRE(bench.take() > 0);
    REQUIRE(bench.channel->send(line));
    REQUIRE(bench.channel->unsent() > 0);
  }

  CHECK(memory.taken() < 16 * line.size());
}

TEST_CASE("room in the input wakes only while something is unsent") {
  Bench bench;
  bench.turn();
  CHECK(bench.writable == 0);
  REQUIRE(bench.channel->send(bytes_of(bench.pipe_bytes + 10)));
  bench.turn();
  CHECK(bench.writable == 0);

  CHECK(bench.take() == bench.pipe_bytes);
  bench.turn();
  CHECK(bench.writable == 1);
  CHECK(bench.channel->flush());
  CHECK(bench.take() == 10);
  bench.turn();
  CHECK(bench.writable == 1);

  // The pipe is filled a second time. When it has room again, the channel must wake the loop again.
  REQUIRE(bench.channel->send(bytes_of(bench.pipe_bytes + 1)));
  CHECK(bench.take() == bench.pipe_bytes);
  bench.turn();
  CHECK(bench.writable == 2);
}

TEST_CASE("the output wakes only while it is watched") {
  Bench bench;
  bench.say("x\n");
  bench.turn();
  CHECK(bench.readable == 1);

  bench.channel->watch_output(false);
  bench.turn();
  CHECK(bench.readable == 1);
  bench.channel->watch_output(true);
  bench.turn();
  CHECK(bench.readable == 2);
  bench.channel->watch_output(false);
  bench.channel->close_output();
  bench.channel->watch_output(true);
  bench.turn();
  CHECK(bench.readable == 2);
  CHECK_FALSE(bench.channel->output_open());
}

TEST_CASE("nothing is read from a closed output, though the pipe still exists") {
  Bench bench;
  bench.channel->close_output();
  bench.say("x\n");

  CHECK(bench.channel->held() == 0);
  CHECK(bench.channel->read(2) == Channel::Read::nothing);
}

TEST_CASE("as much of the output is read as was asked for, and its end is reported") {
  Bench bench;
  CHECK(bench.channel->held() == 0);
  CHECK(bench.channel->read(2) == Channel::Read::nothing);
  bench.say("abc\n");
  CHECK(bench.channel->held() == 4);

  CHECK(bench.channel->read(1) == Channel::Read::bytes);
  CHECK(bench.channel->held() == 3);
  CHECK(bench.channel->read(100) == Channel::Read::bytes);
  CHECK(bench.channel->lines().next()->text == "abc");
  bench.agent_output.reset();
  CHECK(bench.channel->read(100) == Channel::Read::end);
}

TEST_CASE("a channel whose ends are closed leaves nothing on the loop") {
  Bench bench;
  REQUIRE(bench.channel->send(bytes_of(bench.pipe_bytes + 1)));
  CHECK_FALSE(bench.channel->send(bytes_of(unsent_bytes_max)));
  bench.channel->close_output();

  bench.turn();

  CHECK(uv_loop_alive(&bench.loop) == 0);
}

TEST_CASE("destroying a channel closes both ends, close_output() none") {
  Bench bench;
  bench.channel->close_output();
  CHECK(::write(bench.agent_output.get(), "x", 1) == 1);
  CHECK(bench.channel->send("x"));
  CHECK(bench.take() == 1);

  bench.channel.reset();

  CHECK(::write(bench.agent_output.get(), "x", 1) == -1);
  CHECK(errno == EPIPE);
  char byte = 0;
  CHECK(::read(bench.agent_input.get(), &byte, 1) == 0);
}

}  // namespace channel_test
