// Tests whether a function ends the process by abort(), as a failed check() does. Runs the function
// in a child process for this.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

template <class Deed>
bool aborts(const Deed& deed) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Restores the default effect of SIGABRT. The test framework handles this signal, and would
    // report that the test itself has failed.
    ::signal(SIGABRT, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    deed();
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
