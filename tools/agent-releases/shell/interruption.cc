#include "tools/agent-releases/shell/interruption.h"

namespace agent_releases {
namespace {

volatile sig_atomic_t interrupted = 0;

void note_interruption(int) {
  interrupted = 1;
}

}  // namespace

// Installs the handlers without SA_RESTART, so that a signal also interrupts a read from the
// terminal. A signal that was ignored before, as under nohup, stays ignored.
Interruption::Interruption() {
  struct sigaction noting {};
  noting.sa_handler = note_interruption;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &noting, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i)
    ::sigaction(signals[i], &before_[i], nullptr);
}

Outcome Interruption::none() {
  if (interrupted == 0) return std::monostate{};
  return Refusal{"interrupted: nothing has been changed", Trouble::cut_off};
}

}  // namespace agent_releases
