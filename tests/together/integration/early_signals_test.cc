// Tests signals that come while the upgrader starts. From the first system call of its main() on,
// no signal that the upgrader handles may end it by the kernel's default action. Before that call
// such a signal does end it: see CAVEATS in upgrader(8).
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/together/integration/sanitizer.h"
#include "tests/together/integration/world.h"

namespace early_signals_test {

using namespace integration;

namespace {

// An upgrader that only prints its version. The test traces it from its first instruction on.
class Traced {
 public:
  Traced() : environment_(environment_without_leak_check()), pid_(fork()) {
    if (pid_ == 0) {
      for (std::string& setting : environment_)
        putenv(setting.data());
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      execl(World::program().c_str(), "upgrader", "--version", nullptr);
      _exit(127);
    }
    waitpid(pid_, &status_, 0);
    constexpr long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
    REQUIRE(WIFSTOPPED(status_));
    REQUIRE(ptrace(PTRACE_SETOPTIONS, pid_, nullptr, options) == 0);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() {
    if (!WIFSTOPPED(status_)) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Lets the upgrader run to the entry of its next system call, and passes on each signal that
  // stops it on the way. Returns false when it has ended.
  bool go_on() {
    for (;;) {
      const int stopped_by = WSTOPSIG(status_);
      const bool by_signal = stopped_by != SIGTRAP && stopped_by != (SIGTRAP | 0x80);
      ptrace(PTRACE_SYSCALL, pid_, nullptr, by_signal ? stopped_by : 0);
      waitpid(pid_, &status_, 0);
      if (!WIFSTOPPED(status_)) return false;
      ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof call_, &call_);
      if (call_.op == PTRACE_SYSCALL_INFO_ENTRY) return true;
    }
  }

  // Returns whether the present system call is the first one of main(): a fcntl() that finds out
  // whether descriptor 0 is open.
  [[nodiscard]] bool is_at_main() const {
    return call_.entry.nr == SYS_fcntl && call_.entry.args[0] == 0 &&
           call_.entry.args[1] == F_GETFD;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  std::vector<std::string> environment_;
  pid_t pid_;
  int status_ = 0;
  __ptrace_syscall_info call_{};
};

}  // namespace

TEST_CASE("a signal that comes before main() has done anything does not end the upgrader") {
  const int number = GENERATE(SIGUSR2, SIGUSR1, SIGHUP, SIGTERM, SIGINT, SIGQUIT);
  Traced upgrader;
  while (upgrader.go_on() && !upgrader.is_at_main()) {
  }
  REQUIRE(upgrader.is_at_main());

  kill(upgrader.pid(), number);
  while (upgrader.go_on()) {
  }

  CHECK(WIFEXITED(upgrader.status()));
  CHECK(WEXITSTATUS(upgrader.status()) == 0);
}

}  // namespace early_signals_test
