// For tests that run a loop: SIGCHLD is blocked, as main() has it. Otherwise it is gone now and
// then before the loop reads it, and an agent's end is found only when the next deadline comes.
#pragma once

#include <signal.h>

inline const bool sigchld_is_blocked = [] {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return ::sigprocmask(SIG_BLOCK, &set, nullptr) == 0;
}();
