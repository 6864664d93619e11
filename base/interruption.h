// While an object of this class exists, SIGINT, SIGTERM and SIGHUP do not kill the process, but are
// recorded. A program asks has_come() between its steps. If a signal has come, the program removes
// its unfinished files, ends its children, and exits.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

namespace upgrader {

class Interruption {
 public:
  // Installs handlers, which programs that this process executes do not inherit. The handlers have
  // no SA_RESTART, so that a signal also ends a pause, and a read from the terminal. A signal that
  // was ignored before, as under nohup, stays ignored.
  Interruption() {
    struct sigaction noting {};
    noting.sa_handler = note;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &noting, nullptr);
    }
  }

  // Restores the signal handlers from before this object was made.
  ~Interruption() {
    for (std::size_t i = 0; i < signals.size(); ++i)
      ::sigaction(signals[i], &before_[i], nullptr);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Returns whether SIGINT, SIGTERM or SIGHUP has come.
  [[nodiscard]] static bool has_come() { return has_come_ != 0; }

 private:
  static void note(int) { has_come_ = 1; }

  static inline volatile sig_atomic_t has_come_ = 0;
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace upgrader
