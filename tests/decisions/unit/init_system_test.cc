// Tests that the messages for init reach init's socket, and that the newline of --notify-fd reaches
// its pipe, on a clock that the test moves. init_messages_test.cc and init_pace_test.cc test which
// messages are sent, and when.
#include "upgrader/shell/init_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>

#include "tests/decisions/unit/init_bench.h"
#include "tests/decisions/unit/init_socket.h"

namespace init_system_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

std::int64_t microseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
}

// A pipe for --notify-fd.
struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void fill() const {
    const std::string page(4'096, '-');
    while (::write(write.get(), page.data(), page.size()) > 0) {
    }
  }
  OwnedFd read, write;
};

}  // namespace

TEST_CASE("every message reaches the socket, and is sent without delay") {
  InitSocket socket;
  InitSystem init(socket.path().c_str());

  init.tell(news("running"), start);
  init.show_agent_status(1, "42 files", start);
  init.forget_agent(1);
  init.tell(stopping(), start);

  CHECK(socket.heard() == Texts{"READY=1\nSTATUS=running\n", "STATUS=running; 42 files\n",
                                "STOPPING=1\nSTATUS=stopping\n"});
  CHECK_FALSE(init.next_deadline());
}

TEST_CASE("RELOADING=1 has the monotonic clock's time, in microseconds") {
  InitSocket socket;
  InitSystem init(socket.path().c_str());
  init.tell(reloading(0, false), start);
  socket.heard();
  const std::int64_t before = microseconds_now();

  init.tell(reloading(1, true), start);

  const std::string head = "RELOADING=1\nMONOTONIC_USEC=";
  const Texts heard = socket.heard();
  REQUIRE(heard.size() == 1);
  REQUIRE(heard[0].rfind(head, 0) == 0);
  const std::int64_t clock = std::stoll(heard[0].substr(head.size()));
  CHECK(clock >= before);
  CHECK(clock <= microseconds_now());
}

TEST_CASE("a message that meets a full socket is sent when it is due again and there is room") {
  InitSocket socket;
  InitSystem init(socket.path().c_str());
  socket.fill();
  init.tell(news("running"), start);
  CHECK(init.next_deadline() == start + 100ms);
  init.tell_what_is_due(start + 100ms);
  CHECK(init.next_deadline() == start + 200ms);
  CHECK(socket.heard().empty());

  init.tell_what_is_due(start + 199ms);
  CHECK(socket.heard().empty());
  init.tell_what_is_due(start + 200ms);

  CHECK(socket.heard() == Texts{"READY=1\nSTATUS=running\n"});
  CHECK_FALSE(init.next_deadline());
}

TEST_CASE("a socket that has vanished costs what was owed, too") {
  InitSocket socket;
  InitSystem init(socket.path().c_str());
  REQUIRE(::unlink(socket.path().c_str()) == 0);

  init.tell(news("running"), start);

  CHECK_FALSE(init.next_deadline());
}

TEST_CASE("a socket that is named neither from the root nor abstractly is told nothing") {
  InitSocket socket;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(socket.directory());
  InitSystem relative("notify");

  relative.tell(news("running"), start);

  CHECK(socket.heard().empty());
  std::filesystem::current_path(before);
}

TEST_CASE("WATCHDOG=1 is sent when it is due, and not by news") {
  InitSocket socket;
  InitSystem init(socket.path().c_str(), 10s);
  CHECK(init.watchdog() == 10s);
  init.tell(news("running"), start);
  CHECK(socket.heard() == Texts{"READY=1\nSTATUS=running\n"});
  CHECK(init.next_deadline() == Time{});
  init.tell_what_is_due(start);
  CHECK(socket.heard() == Texts{"WATCHDOG=1\n"});
  CHECK(init.next_deadline() == start + 5s);
  init.tell(news("another agent runs"), start + 6s);
  CHECK(socket.heard() == Texts{"STATUS=another agent runs\n"});

  // A WATCHDOG=1 has been due since second 5, but has not been sent yet. Now the agent counts as
  // silent, so this WATCHDOG=1 must not be sent any more.
  InitNews silent = news("silent");
  silent.vouched = false;
  init.tell(silent, start + 6s);
  init.tell_what_is_due(start + 6s);

  CHECK(socket.heard() == Texts{"STATUS=silent\n"});
  CHECK_FALSE(init.next_deadline());
}

TEST_CASE("WATCHDOG=1 is sent early, but not twice within 100 ms, and not for a silent agent") {
  InitSocket socket;
  InitSystem init(socket.path().c_str(), 10s);
  init.tell(news("running"), start);
  init.tell_what_is_due(start);
  socket.heard();

  init.keep_alive_early(start + 99ms);
  CHECK(socket.heard().empty());
  init.keep_alive_early(start + 100ms);
  CHECK(socket.heard() == Texts{"WATCHDOG=1\n"});
  CHECK(init.next_deadline() == start + 100ms + 5s);

  InitNews silent = news("silent");
  silent.vouched = false;
  init.tell(silent, start + 1s);
  socket.heard();
  init.keep_alive_early(start + 2s);
  CHECK(socket.heard().empty());
}

TEST_CASE("without a socket there is no message, no WATCHDOG=1 and no deadline") {
  InitSystem nobody(nullptr, 10s);

  nobody.tell(news("running"), start);
  nobody.tell_what_is_due(start);
  nobody.keep_alive_early(start);

  CHECK(nobody.watchdog() == 10s);
  CHECK_FALSE(nobody.next_deadline());
}

TEST_CASE("a descriptor for readiness is told when the first agent is active, without a socket") {
  Pipe pipe;
  InitSystem init(nullptr, Duration::zero(),
                  std::move(seize_for_readiness(pipe.write.release(), 3).value()));
  char byte = 0;
  init.tell(news("starting", false), start);
  CHECK(::read(pipe.read.get(), &byte, 1) == -1);

  init.tell(news("running"), start);

  CHECK(::read(pipe.read.get(), &byte, 1) == 1);
  CHECK(byte == '\n');
  CHECK(::read(pipe.read.get(), &byte, 1) == 0);
}

TEST_CASE("a pipe of --notify-fd that is full is told when there is room, and closed") {
  Pipe pipe;
  pipe.fill();
  InitSystem init(nullptr, Duration::zero(),
                  std::move(seize_for_readiness(pipe.write.release(), 3).value()));
  init.tell(news("running"), start);
  CHECK(init.next_deadline() == start + 100ms);
  init.tell_what_is_due(start + 100ms);
  CHECK(init.next_deadline() == start + 200ms);
  std::string room(1 << 20, ' ');
  REQUIRE(::read(pipe.read.get(), room.data(), room.size()) > 0);

  init.tell_what_is_due(start + 200ms);

  CHECK_FALSE(init.next_deadline());
  CHECK(::read(pipe.read.get(), room.data(), room.size()) == 1);
  CHECK(room[0] == '\n');
  CHECK(::read(pipe.read.get(), room.data(), room.size()) == 0);
}

}  // namespace init_system_test
