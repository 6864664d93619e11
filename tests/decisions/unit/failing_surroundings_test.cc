// Tests failures of system calls that prepare an agent's signals, descriptors and environment, or
// that the upgrader needs for itself. If the kernel refuses one of them, no agent may be started.
// If the refusal may be temporary, the upgrader must try again.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/errno_name.h"
#include "base/process.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/init_bench.h"
#include "upgrader/shell/channel.h"

namespace failing_surroundings_test {

using namespace upgrader;

namespace {

StartFailed failure_of_start() {
  const auto checked = check_program("/bin/true", "/bin/true", {});
  auto result = start_process(checked.value(), {});
  if (const auto* started = std::get_if<Started>(&result)) {
    ::waitpid(started->pid, nullptr, 0);
    FAIL("it was started");
  }
  return std::get<StartFailed>(result);
}

}  // namespace

TEST_CASE("without a session of its own there is no agent") {
  const Failing failing(Call::setsid, EPERM);

  const StartFailed failure = failure_of_start();

  CHECK(failure == StartFailed{.where = StartFailed::Where::resources, .error = EPERM});
}

TEST_CASE("without the signals that it is to get there is no agent") {
  const Failing failing(Call::sigprocmask, EPERM);

  const StartFailed failure = failure_of_start();

  CHECK(failure == StartFailed{.where = StartFailed::Where::resources, .error = EPERM});
  CHECK(ended_child() == std::nullopt);
}

TEST_CASE("signals that cannot be blocked are told") {
  const Failing failing(Call::sigprocmask, EPERM);

  CHECK(put_signals_right() == EPERM);
}

TEST_CASE("a pipe that has no memory for a message now gets it later") {
  int ends[2];
  int unused[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(::pipe2(unused, O_CLOEXEC | O_NONBLOCK) == 0);
  const OwnedFd reader(ends[0]);
  const OwnedFd writer_of_unused(unused[1]);
  uv_loop_t loop{};
  REQUIRE(uv_loop_init(&loop) == 0);
  auto channel = std::make_unique<Channel>(
      &loop, OwnedFd(ends[1]), OwnedFd(unused[0]), [] {}, [] {});
  {
    const Failing failing(Call::write, ENOMEM);
    CHECK(channel->send("news\n"));
    CHECK(failing.fired());
  }
  CHECK(channel->unsent() == 5);

  CHECK(channel->flush());

  CHECK(channel->unsent() == 0);
  char text[8];
  CHECK(::read(reader.get(), text, sizeof text) == 5);
  channel.reset();
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("a descriptor for readiness that cannot be moved is told") {
  const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const Failing failing(Call::fcntl, EMFILE, 1);

  const auto taken = seize_for_readiness(fd, fd + 1);

  CHECK(failing.fired());
  CHECK(taken.reason() == in_words(SystemError{EMFILE}));
}

TEST_CASE("that something is short is not the program's fault") {
  const int error = GENERATE(EMFILE, ENFILE, ENOMEM, EAGAIN);
  CHECK(is_shortage(error));
  CHECK_FALSE(is_shortage(EACCES));
  CHECK_FALSE(is_shortage(ENOENT));
}

TEST_CASE("readiness that cannot be told without waiting is not told") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const OwnedFd reader(ends[0]);
  auto readiness = seize_for_readiness(ends[1], ends[1]);
  const int after = GENERATE(0, 1);
  const Failing failing(Call::fcntl, EPERM, after);

  InitSystem init(nullptr, Duration::zero(), std::move(readiness.value()));
  InitNews news;
  news.active = true;
  init.tell(news, Time{});

  CHECK_FALSE(init.next_deadline());
  CHECK(failing.fired());
  char byte = 0;
  // The reader finds the end of the pipe: the upgrader has closed the pipe without writing to it.
  CHECK(::read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("messages that init has no room for are sent later, and refused ones are dropped") {
  upgrader::test::InitBench bench;
  const int error = GENERATE(EAGAIN, ENOBUFS, ENOMEM, EINTR, ECONNREFUSED);
  const Failing failing(Call::sendto, error);
  InitNews news;
  news.active = true;

  bench.tell(news);

  CHECK(failing.fired());
  CHECK(bench.heard().empty());
  bench.wake_until(owed_retry_interval);
  CHECK(bench.heard().empty() == (error == ECONNREFUSED));
}

}  // namespace failing_surroundings_test
