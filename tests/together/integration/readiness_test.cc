// Tests --notify-fd of upgrader(8).
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace readiness_test {

using namespace integration;

namespace {

// A pipe whose writing end is passed to an upgrader under any descriptor number.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Moves the writing end to this number. Must be called in the child that becomes the upgrader,
  // before its exec.
  void become(int number) const { put_at(number, ends_[1]); }
  void become_read(int number) const { put_at(number, ends_[0]); }
  void close_write() { ::close(std::exchange(ends_[1], -1)); }

  // Returns all bytes that have come, and whether the pipe is closed.
  std::string heard() {
    char bytes[100];
    for (ssize_t size; (size = ::read(ends_[0], bytes, sizeof bytes)) >= 0;) {
      text_.append(bytes, static_cast<std::size_t>(size));
      if (size == 0) return text_ + " closed";
    }
    return text_;
  }

 private:
  static void put_at(int number, int fd) {
    ::dup2(fd, number);
    ::fcntl(number, F_SETFD, 0);
  }

  int ends_[2];
  std::string text_;
};

void expect_refusal(Start start, const std::string& reason) {
  World world(std::move(start));

  world.expect_exit(125);

  INFO(world.log());
  CHECK(world.log().find(reason) != std::string::npos);
  CHECK(world.agents_started() == 0);
}

}  // namespace

TEST_CASE("--notify-fd hears one newline when the first agent is active, and is closed") {
  World world{World::Later()};
  Pipe pipe;
  const int number = GENERATE(3, 7);
  Start start{.options = {"--trial=0", "--notify-fd=" + std::to_string(number)},
              .before_exec = [&] { pipe.become(number); }};
  const bool locked = GENERATE(false, true);
  if (locked) start.options.push_back("--lock=" + world.path("lock"));
  world.start(start);
  pipe.close_write();
  Puppet old = world.agent();
  CHECK(old.report().keys("fd:").size() == (locked ? 4 : 3));
  old.hello();
  old.expect_silence();
  CHECK(pipe.heard().empty());

  old.ready();
  old.expect("activate");
  world.wait_until([&] { return pipe.heard() == "\n closed"; }, "the newline");

  world.hand_over(old).expect("committed");
}

TEST_CASE("--notify-fd is closed without a word when no agent becomes active") {
  World world{World::Later()};
  Pipe pipe;
  world.start(Start{.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become(5); }});
  pipe.close_write();

  world.agent().exit(4);

  world.expect_exit(4);
  CHECK(pipe.heard() == " closed");
}

TEST_CASE("a --notify-fd that nobody reads costs nothing") {
  World world{World::Later()};
  {
    const Pipe pipe;
    world.start(Start{.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become(5); }});
  }

  world.first().expect_silence();
}

TEST_CASE("a --notify-fd that cannot be told is a usage error") {
  const Pipe pipe;
  expect_refusal({.options = {"--notify-fd=99"}}, "--notify-fd=99: ");
  expect_refusal({.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become_read(5); }},
                 "--notify-fd=5: it is not open for writing");
  expect_refusal({.options = {"--notify-fd=2"}}, "3 or more");
  expect_refusal({.options = {"--notify-fd=4"},
                  .environment = {"LISTEN_FDS=2", "LISTEN_PID=self"},
                  .before_exec =
                      [] {
                        ::dup2(2, 3);
                        ::dup2(2, 4);
                      }},
                 "--notify-fd=4: it is one of the sockets that init passed");
}

}  // namespace readiness_test
