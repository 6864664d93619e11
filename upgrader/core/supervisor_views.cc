// What the shell asks of a supervisor between two steps: when to come back, whom to look at first,
// and which programs are still needed.
#include <tuple>

#include "upgrader/core/supervisor.h"

namespace upgrader {

std::optional<Time> Supervisor::next_deadline() const {
  std::optional<Time> next;
  const auto consider = [&](const std::optional<Time>& deadline) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  };
  for (const std::optional<Agent>* agent : {&state_.incumbent, &state_.candidate}) {
    if (!*agent) continue;
    consider((*agent)->deadline);
    consider((*agent)->close_deadline);
    consider((*agent)->heartbeat_deadline);
    consider((*agent)->hello_deadline);
  }
  if (state_.upgrade) consider(state_.upgrade->deadline);
  consider(state_.attempts_deadline);
  return next;
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
    return has_passed(agent.deadline) || has_passed(agent.close_deadline) ||
           has_passed(agent.heartbeat_deadline) || has_passed(agent.hello_deadline);
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
