// Tests the log of an upgrader whose standard error cannot be opened a second time. The log then
// has no nonblocking descriptor of its own, but writing a log line must never block. Writing the
// last message of an upgrader that aborts after a failed check must not block either.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/processes.h"
#include "upgrader/shell/log.h"

namespace failing_log_test {

using namespace upgrader;

namespace {

constexpr int always = 1'000'000;

struct Stream {
  OwnedFd read;
  OwnedFd write;  // writing blocks if the pipe is full
};

Stream make_pipe() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Stream make_named_pipe(const std::string& path) {
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  Stream pipe{OwnedFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), {}};
  pipe.write.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return pipe;
}

Stream make_terminal() {
  Stream terminal;
  terminal.read.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  REQUIRE(::grantpt(terminal.read.get()) == 0);
  REQUIRE(::unlockpt(terminal.read.get()) == 0);
  terminal.write.reset(::open(::ptsname(terminal.read.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  return terminal;
}

std::string take(const OwnedFd& fd) {
  std::string text;
  char bytes[4'096];
  for (ssize_t count = 0; (count = ::read(fd.get(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  return text;
}

void fill(const OwnedFd& pipe) {
  const std::string path = "/proc/self/fd/" + std::to_string(pipe.get());
  const OwnedFd filler(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(filler);
  const std::string page(4'096, '\n');
  while (::write(filler.get(), page.data(), page.size()) > 0) {
  }
}

}  // namespace

TEST_CASE("a pipe that cannot be opened anew is written to without waiting, by two means") {
  const TemporaryDirectory directory;
  const bool named = GENERATE(false, true);
  const Stream pipe = named ? make_named_pipe(directory / "pipe") : make_pipe();
  const Failing opening(Call::open, EACCES, 0, always);
  const bool old_kernel = GENERATE(false, true);
  const Failing writing(Call::syscall, EOPNOTSUPP, 0, old_kernel ? always : 0);
  Logbook log(LogLevel::info, nullptr, pipe.write.get());

  log.info("a");
  log.info("b");

  CHECK(opening.fired());
  CHECK(take(pipe.read) == "upgrader: a\nupgrader: b\n");
  for (int line = 0; line < 10'000; ++line)
    log.info("a line");
  CHECK(log.lost() > 0);
  CHECK(take(pipe.read).starts_with("upgrader: a line\nupgrader: a line\n"));
  log.info("again");
  CHECK(
      take(pipe.read).ends_with("lines of this log lost: standard error did not take them\n"
                                "upgrader: again\n"));
}

TEST_CASE("a pipe that others fill while the log looks at it does not hold the log up") {
  const Stream pipe = make_pipe();
  const bool old_kernel = GENERATE(false, true);
  Logbook log(LogLevel::info, nullptr, pipe.write.get());
  after_poll = [&] { fill(pipe.write); };
  {
    const Failing opening(Call::open, EACCES);
    const Failing writing(Call::syscall, EOPNOTSUPP, 0, old_kernel ? always : 0);
    log.info("a");
  }
  after_poll = nullptr;
  fill(pipe.write);
  const Failing opening(Call::open, EACCES);

  log.info("b");

  CHECK(log.lost() > 0);
}

TEST_CASE("without descriptors an old kernel costs the line") {
  const Stream pipe = make_pipe();
  const Failing opening(Call::open, EMFILE);
  const Failing writing(Call::syscall, ENOSYS);
  const Failing making(Call::pipe2, EMFILE);
  Logbook log(LogLevel::info, nullptr, pipe.write.get());

  log.info("a");

  CHECK(making.fired());
  CHECK(log.lost() == 1);
}

TEST_CASE(
    "an interrupted write of a line is made again, and one that cannot be prepared costs it") {
  const Stream pipe = make_pipe();
  Logbook log(LogLevel::info, nullptr, pipe.write.get());
  {
    const Failing failing(Call::write, EINTR);
    log.info("a");
    CHECK(failing.fired());
  }
  CHECK(take(pipe.read) == "upgrader: a\n");

  const Failing opening(Call::open, EACCES, 0, always);
  const Failing old_kernel(Call::syscall, EOPNOTSUPP, 0, always);
  const Failing preparing(Call::write, ENOMEM);
  Logbook another(LogLevel::info, nullptr, pipe.write.get());
  another.info("b");
  CHECK(preparing.fired());
  CHECK(another.lost() == 1);
}

TEST_CASE("a terminal that cannot be opened anew, and that nobody reads, costs lines") {
  const Stream terminal = make_terminal();
  const Failing opening(Call::open, EACCES, 0, always);
  Logbook log(LogLevel::info, nullptr, terminal.write.get());
  const std::string filler(GENERATE(10U, 333U, 4'000U), 'x');

  for (int line = 0; line < 10'000; ++line)
    log.info(filler);

  CHECK(log.lost() > 0);
  CHECK(take(terminal.read).starts_with("upgrader: " + filler + "\r\nupgrader: " + filler));
}

TEST_CASE("a broken rule is told where that takes no time, and ends the upgrader in any case") {
  const Stream pipe = make_pipe();
  const bool full = GENERATE(false, true);
  if (full) fill(pipe.write);
  // True if fstat() fails, so that the upgrader does not know what kind of file standard error is.
  const bool unknown = GENERATE(false, true);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGABRT, SIG_DFL);
    const Failing failing(Call::fstat, EIO, 0, unknown ? 1 : 0);
    ::dup2(pipe.write.get(), STDERR_FILENO);
    check_failed("file.cc", 7);
  }

  REQUIRE(ends(pid));

  int status = 0;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  const std::string told = "upgrader: error: a rule of its own is broken: file.cc:7\n";
  CHECK((take(pipe.read) == told) == (!full && !unknown));
}

}  // namespace failing_log_test
