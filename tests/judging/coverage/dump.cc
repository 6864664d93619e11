// This file is linked into every program of the coverage build. gcc's own code writes the counts of
// taken branches to disk only at exit() and fork(). This file also writes them at _exit(), at
// abort(), and before a test kills its child with SIGKILL. A child that is about to execute a
// program shares its parent's memory, so the parent writes the child's counts.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

extern "C" {

void __gcov_dump();

[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real_abort();
int __real_kill(pid_t pid, int number);

// Returns whether a test has limited the size of the files that this process may write. Such a
// process must not write its counts: the limit would truncate the file of counts, which all
// processes share.
static bool files_are_limited() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  return limit.rlim_cur != RLIM_INFINITY;
}

// Before a test kills its child with SIGKILL, the child is sent this signal, on which it writes its
// counts and dies. A child that already writes its counts for another reason, such as exit(),
// blocks the signal until it has finished.
static constexpr int last_signal = 60;

static sigset_t put_off_last_signal() {
  sigset_t last;
  sigset_t before;
  sigemptyset(&last);
  sigaddset(&last, last_signal);
  sigprocmask(SIG_BLOCK, &last, &before);
  return before;
}

static void dump() {
  const sigset_t before = put_off_last_signal();
  if (!files_are_limited()) __gcov_dump();
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

static void leave(int status, void*) {
  put_off_last_signal();  // last_signal stays blocked while gcc writes the counts
  if (files_are_limited()) __real__exit(status);
}

static void dump_and_die(int) {
  dump();
  __real_kill(getpid(), SIGKILL);
}

// Prepares for the ways in which a program may end:
// * At exit(), leave() blocks last_signal, and then gcc's code writes the counts of branches. If a
//   test has limited the size of this process's files, leave() ends the process, and no counts are
//   written.
// * On last_signal, a program named `*_test` writes the counts, and so do its forked children that
//   still run the test's code. No other program handles this signal, because tests inspect an
//   agent's signal handlers.
[[gnu::constructor]] static void see_to_ends() {
  on_exit(leave, nullptr);
  if (std::string(program_invocation_short_name).ends_with("_test"))
    signal(last_signal, dump_and_die);
}

static bool runs_what_we_run(pid_t pid) {
  struct stat ours {};
  struct stat theirs {};
  const std::string path = "/proc/" + std::to_string(pid) + "/exe";
  return stat("/proc/self/exe", &ours) == 0 && stat(path.c_str(), &theirs) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

int counted_kill(pid_t pid, int number) {
  if (number == SIGKILL && pid > 0 && pid != getpid() && runs_what_we_run(pid)) {
    const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    __real_kill(pid, last_signal);
    // Waits for the child's end, with a time limit, because the child may be stopped, or may block
    // last_signal.
    constexpr int patience_ms = 2'000;
    pollfd end{process, POLLIN, 0};
    poll(&end, 1, patience_ms);
    close(process);
  }
  return __real_kill(pid, number);
}

[[noreturn]] void __wrap__exit(int status) {
  dump();
  __real__exit(status);
}

[[noreturn]] void __wrap_abort() {
  dump();
  __real_abort();
}

// A test that makes kill() fail defines its own __wrap_kill, which calls counted_kill().
[[gnu::weak]] int __wrap_kill(pid_t pid, int number) {
  return counted_kill(pid, number);
}

}  // extern "C"
