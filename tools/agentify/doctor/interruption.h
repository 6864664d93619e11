// Once an object of this class has been made, SIGINT, SIGTERM and SIGHUP do not kill the doctor,
// but are recorded. So the doctor can end the daemon and remove its files before it exits. SIGPIPE
// has no effect.
#pragma once

#include <signal.h>

namespace agentify {

class Interruption {
 public:
  // Installs handlers, which programs that the doctor executes do not inherit. The handlers have no
  // SA_RESTART, so that a signal ends a pause. Signals that the doctor's parent has set to be
  // ignored stay ignored.
  Interruption() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      struct sigaction action {};
      ::sigaction(number, nullptr, &action);
      if (action.sa_handler == SIG_IGN) continue;
      action = {};
      action.sa_handler = number == SIGPIPE ? do_nothing : note;
      ::sigaction(number, &action, nullptr);
    }
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Returns whether SIGINT, SIGTERM or SIGHUP has come.
  [[nodiscard]] static bool has_come() { return has_come_ != 0; }

 private:
  static void note(int) { has_come_ = 1; }
  static void do_nothing(int) {}

  static inline volatile sig_atomic_t has_come_ = 0;
};

}  // namespace agentify
