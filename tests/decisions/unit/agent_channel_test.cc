// Tests the library's channel over the agent's two pipes: how many bytes it keeps, and when it
// reads and writes.
#include "agent-protocol/cpp/agent/agent_channel.h"

#include <limits.h>
#include <sys/ioctl.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "tests/decisions/unit/agent_bench.h"

namespace agent_channel_test {

using namespace agent_protocol;

namespace {

const std::string error_line = R"({"type":"error","reason":"no"})"
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
  const std::string errors = times(pipe_bytes / error_line.size(), error_line);
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
  ends.say(error_line);
  ends.channel.queue("x\n");

  ends.channel.flush();

  CHECK_FALSE(ends.channel.output_waits());
  CHECK(ends.channel.input_waits());
  CHECK(ends.channel.take());
  CHECK_FALSE(ends.channel.input_waits());
}

TEST_CASE("if nobody reads the output any more, the input is read first, and then it is over") {
  Ends ends;
  ends.say(times(10, error_line));
  ends.channel.queue("x\n");
  ends.leave_output();

  ends.channel.exchange();

  CHECK(ends.channel.over());
  CHECK_FALSE(ends.channel.output_waits());
  CHECK(take_all(ends.channel) == 10);
}

TEST_CASE("it is not over while there are more messages than are kept") {
  Ends ends;
  ends.say(times(300, error_line));
  ends.leave_output();

  ends.channel.exchange();
  CHECK_FALSE(ends.channel.over());

  CHECK(take_all(ends.channel) == 300);
  CHECK_FALSE(ends.channel.over());
  ends.channel.exchange();
  CHECK(ends.channel.over());
}

}  // namespace agent_channel_test
