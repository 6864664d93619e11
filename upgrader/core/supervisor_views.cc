// The shell's questions to a supervisor between two steps: when to come back, which agents to look
// at first, and which programs are still needed.
#include <algorithm>
#include <iterator>
#include <tuple>

#include "upgrader/core/supervisor.h"

namespace upgrader {

std::optional<Time> Supervisor::next_deadline() const {
  std::optional<Time> next;
  for (const std::optional<Agent>* agent : {&state_.incumbent, &state_.candidate}) {
    if (!*agent) continue;
    for (const auto deadline : agent_deadlines)
      next = earlier_of(next, **agent.*deadline);
  }
  if (state_.upgrade) next = earlier_of(next, state_.upgrade->deadline);
  return earlier_of(next, state_.attempts_deadline);
}

std::vector<Generation> Supervisor::late(Time by) const {
  std::vector<Generation> generations;
  const auto has_passed = [by](const std::optional<Time>& deadline) {
    return deadline && *deadline <= by;
  };
  const auto& [incumbent, candidate] = std::tie(state_.incumbent, state_.candidate);
  // The gate's time and the trial's are the active agent's to keep.
  const bool upgrade_is_late = (state_.upgrade && has_passed(state_.upgrade->deadline)) ||
                               has_passed(state_.attempts_deadline);
  const auto is_late = [&](const Agent& agent) {
    return std::any_of(std::begin(agent_deadlines), std::end(agent_deadlines),
                       [&](const auto deadline) { return has_passed(agent.*deadline); });
  };
  if (incumbent && (is_late(*incumbent) || upgrade_is_late)) {
    generations.push_back(incumbent->generation);
  }
  if (candidate && is_late(*candidate)) {
    generations.push_back(candidate->generation);
  }
  return generations;
}

std::vector<ProgramId> Supervisor::programs() const {
  std::vector<ProgramId> needed;
  for (const std::optional<Agent>* agent :
       {&state_.incumbent, &state_.candidate, &state_.spawning}) {
    if (*agent) needed.push_back((*agent)->program);
  }
  if (state_.upgrade) needed.push_back(state_.upgrade->previous);
  if (state_.upgrade && state_.upgrade->program) needed.push_back(*state_.upgrade->program);
  return needed;
}

}  // namespace upgrader
