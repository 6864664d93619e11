// Tests prepare_signals(), which the long-running programs of the fleet call when they start. Also
// tests which signals fleetctl leaves ignored.
#include "fleet/common/process_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/options.h"

namespace process_signals_test {

// Forks a child that blocks SIGTERM, as if its parent had blocked the signal. If `prepares` is
// true, the child then calls prepare_signals(). Finally the child sends itself the signal `number`,
// and exits with status 3 if it survives. Returns the child's wait status.
int status_after(int number, bool prepares) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
    signal(SIGTERM, SIG_DFL);  // removes Catch2's handler, which would report a failed test
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

TEST_CASE("a signal that fleetctl's parent ignored stays ignored while fleetctl holds stops") {
  const int number = GENERATE(SIGINT, SIGHUP);
  CAPTURE(number);
  struct sigaction ignored {};
  struct sigaction before {};
  struct sigaction held {};
  ignored.sa_handler = SIG_IGN;
  REQUIRE(sigaction(number, &ignored, &before) == 0);
  {
    fleetctl::Options options;
    options.store.endpoints = {"http://127.0.0.1:1"};
    fleetctl::Asker asker(options);
    asker.hold_stops();
    sigaction(number, nullptr, &held);
  }
  sigaction(number, &before, nullptr);
  CHECK(held.sa_handler == SIG_IGN);
}

}  // namespace process_signals_test
