// Blocks SIGCHLD in tests that run an event loop, as the upgrader's main() does. A SIGCHLD that is
// not blocked is discarded if it arrives before the loop waits for it. In a test, the loop would
// then notice the end of an agent only at the next deadline.
#pragma once

#include <signal.h>

inline const bool sigchld_is_blocked = [] {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return ::sigprocmask(SIG_BLOCK, &set, nullptr) == 0;
}();
