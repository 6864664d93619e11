// Blocks SIGCHLD in tests that run an event loop, as the upgrader's main() does. An unblocked
// SIGCHLD is discarded if it arrives before the loop waits for it. The loop would then notice that
// an agent has exited only at the next deadline.
#pragma once

#include <signal.h>

inline const bool sigchld_is_blocked = [] {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return ::sigprocmask(SIG_BLOCK, &set, nullptr) == 0;
}();
