// For tests that run an event loop: blocks SIGCHLD, as the upgrader's main() does. Where it is not
// blocked, the signal is discarded if it arrives before the loop waits for it, and a test then sees
// the end of its agent only at the next deadline.
#pragma once

#include <signal.h>

inline const bool sigchld_is_blocked = [] {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return ::sigprocmask(SIG_BLOCK, &set, nullptr) == 0;
}();
