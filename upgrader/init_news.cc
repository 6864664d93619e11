#include "upgrader/init_news.h"

#include "upgrader/state.h"
#include "upgrader/words.h"

namespace upgrader {
namespace {

std::string upgrade_of(const State& state) {
  return "upgrade " + state.upgrade->id;
}

std::string serving(const State& state) {
  return words::who(*state.incumbent) + " is active";
}

std::string candidate_of(const State& state) {
  if (!state.candidate) return "its candidate";
  return words::who(*state.candidate);
}

std::string status_of(const State& state) {
  switch (phase_of(state)) {
    case Phase::starting:
      return "starting";
    case Phase::running:
      return serving(state);
    case Phase::preparing:
      return serving(state) + "; " + upgrade_of(state) + ": " + candidate_of(state) + " starts";
    case Phase::confirming:
      return serving(state) + "; " + upgrade_of(state) + " waits to be confirmed";
    case Phase::switching:
      return upgrade_of(state) + ": " + words::who(*state.incumbent) + " is stopping";
    case Phase::replacing:
      return upgrade_of(state) + ": " + candidate_of(state) + " starts, and nobody is active";
    case Phase::trial:
      return serving(state) + ", " + words::on_trial(state.upgrade->terms.trial) + " of " +
             upgrade_of(state);
    case Phase::abandoning:
      return serving(state) + "; " + upgrade_of(state) + " has failed";
    case Phase::rolling_back:
      return upgrade_of(state) + " has failed: " + words::who(*state.incumbent) + " is stopping";
    case Phase::falling_back:
      return upgrade_of(state) + " has failed: falling back";
    case Phase::shutting_down:
    case Phase::ended:
      return "stopping";
  }
  return "";
}

}  // namespace

InitNews init_news(const State& state) {
  const Phase phase = phase_of(state);
  return {.active = state.incumbent && state.incumbent->activated,
          .stopping = phase == Phase::shutting_down || phase == Phase::ended,
          .status = status_of(state)};
}

}  // namespace upgrader
