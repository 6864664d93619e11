// Tests how the programs of the fleet that run until SIGTERM stops them prepare their signals.
#include "fleet/common/process_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace process_signals_test {

// Starts a process that blocks SIGTERM, in place of a parent that has blocked it. If `prepares` is
// true, the process then calls prepare_signals(). At last the process sends itself the signal
// `number`, and exits with status 3 if the signal has not ended it. Returns the wait status.
int status_after(int number, bool prepares) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
    signal(SIGTERM, SIG_DFL);  // Catch2 catches it, and would report a failed test
    if (prepares) fleet::prepare_signals();
    raise(number);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_CASE("SIGTERM ends a program whose parent had blocked it") {
  const int status = status_after(SIGTERM, true);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);

  const int unprepared = status_after(SIGTERM, false);
  REQUIRE(WIFEXITED(unprepared));
  CHECK(WEXITSTATUS(unprepared) == 3);
}

TEST_CASE("a log without a reader and a file that is too large end no program") {
  const int number = GENERATE(SIGPIPE, SIGXFSZ);
  const int status = status_after(number, true);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

}  // namespace process_signals_test
