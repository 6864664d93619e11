// While an object of this class exists, SIGINT, SIGTERM and SIGHUP do not kill the process, but are
// recorded. A command that writes files calls none() between its steps. If a signal has come, the
// command removes its unfinished files and ends.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "agent-releases/result.h"

namespace agent_releases {

class Interruption {
 public:
  // Installs the handlers without SA_RESTART, so that a signal also interrupts a read from the
  // terminal. A signal that was ignored before, as under nohup, stays ignored.
  Interruption() {
    struct sigaction noting {};
    noting.sa_handler = note_interruption;
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

  // Returns a refusal if SIGINT, SIGTERM or SIGHUP has come, otherwise success.
  [[nodiscard]] static Outcome none() {
    if (interrupted == 0) return std::monostate{};
    return Refusal{"interrupted: nothing has been changed", Trouble::cut_off};
  }

 private:
  static void note_interruption(int) { interrupted = 1; }

  static inline volatile sig_atomic_t interrupted = 0;
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agent_releases
