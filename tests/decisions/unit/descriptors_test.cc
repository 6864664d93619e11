// Tests how the upgrader sets up descriptors and signals that it inherits from init. Each case runs
// in a child process, so that the test's own descriptors stay as they are.
#include "base/descriptors.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>

#include "base/owned_fd.h"

namespace descriptors_test {

using namespace upgrader;

namespace {

// Runs `deed` in a child process. Returns true if `deed` has returned true in that process.
template <class Deed>
bool in_a_child(Deed deed) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(deed() ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_null_device(int fd) {
  struct stat status {};
  struct stat null {};
  return ::fstat(fd, &status) == 0 && ::stat("/dev/null", &null) == 0 &&
         status.st_rdev == null.st_rdev && (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR &&
         ::fcntl(fd, F_GETFD) == 0;
}

bool closes_on_exec(int fd) {
  return ::fcntl(fd, F_GETFD) == FD_CLOEXEC;
}

// Makes the descriptors 50, 51 and 70 open and inheritable, and 60 closed.
bool prepare() {
  return ::dup2(0, 50) == 50 && ::dup2(0, 51) == 51 && ::dup2(0, 70) == 70 &&
         (::close(60) == 0 || errno == EBADF);
}

bool marked_from_51() {
  return ::fcntl(50, F_GETFD) == 0 && closes_on_exec(51) && closes_on_exec(70);
}

// Returns the lowest free descriptor number.
int next_descriptor() {
  const int fd = ::dup(0);
  ::close(fd);
  return fd;
}

}  // namespace

TEST_CASE("standard descriptors that are closed become /dev/null, others stay") {
  // Bit N of this number says whether standard descriptor N (0 to 2) is closed before the call of
  // open_standard_descriptors().
  const int closed = GENERATE(range(0, 8));
  CHECK(in_a_child([&] {
    int pipe_ends[2];
    if (::pipe(pipe_ends) != 0) return false;
    for (int fd = 0; fd <= 2; ++fd)
      ::dup2(pipe_ends[1], fd);
    for (int fd = 0; fd <= 2; ++fd) {
      if ((closed >> fd & 1) != 0) ::close(fd);
    }

    ::close(pipe_ends[0]);

    if (open_standard_descriptors() != 0) return false;

    if (next_descriptor() != pipe_ends[0]) return false;  // a descriptor was left open
    for (int fd = 0; fd <= 2; ++fd) {
      if (is_null_device(fd) != ((closed >> fd & 1) != 0)) return false;
    }
    return true;
  }));
}

TEST_CASE("standard descriptors that cannot be opened are told") {
  CHECK(in_a_child([] {
    ::close(1);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return false;

    return open_standard_descriptors() == EMFILE;
  }));
}

TEST_CASE("everything that is open from a number on is marked, and nothing below") {
  CHECK(in_a_child([] {
    const int next = next_descriptor();
    if (!prepare()) return false;
    mark_close_on_exec_from(51);
    return marked_from_51() && next_descriptor() == next;
  }));
}

TEST_CASE("blocked and ignored signals are put right") {
  CHECK(in_a_child([] {
    ::signal(SIGCHLD, SIG_IGN);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGIO, SIG_DFL);
    ::signal(SIGHUP, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);

    if (put_signals_right() != 0) return false;

    struct sigaction child {};
    struct sigaction pipe {};
    struct sigaction hangup {};
    struct sigaction size {};
    struct sigaction terminal {};
    struct sigaction readable {};
    ::sigaction(SIGIO, nullptr, &readable);
    ::sigaction(SIGXFSZ, nullptr, &size);
    ::sigaction(SIGTTOU, nullptr, &terminal);
    ::sigaction(SIGCHLD, nullptr, &child);
    ::sigaction(SIGPIPE, nullptr, &pipe);
    ::sigaction(SIGHUP, nullptr, &hangup);
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int number = 1; number <= SIGRTMAX; ++number) {
      const bool is_read = std::count(std::begin(read_signals), std::end(read_signals), number) > 0;
      if (::sigismember(&blocked, number) != (is_read ? 1 : 0)) return false;
    }
    return child.sa_handler == SIG_DFL && pipe.sa_handler == SIG_IGN &&
           size.sa_handler == SIG_IGN && terminal.sa_handler == SIG_IGN &&
           hangup.sa_handler == SIG_IGN && readable.sa_handler == SIG_IGN;
  }));
}

TEST_CASE("an owned descriptor is closed once, by its last owner") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  {
    OwnedFd one(ends[0]);
    OwnedFd other(std::move(one));
    CHECK_FALSE(one);
    CHECK(other.get() == ends[0]);
    one = std::move(other);
    CHECK(is_open(ends[0]));
    OwnedFd replaced(ends[1]);
    replaced = std::move(one);
    CHECK_FALSE(is_open(ends[1]));
    CHECK(is_open(ends[0]));
    replaced.reset(replaced.get());
    CHECK(is_open(ends[0]));
  }
  CHECK_FALSE(is_open(ends[0]));
  CHECK_FALSE(OwnedFd());
  CHECK_FALSE(OwnedFd(-1));
}

}  // namespace descriptors_test
