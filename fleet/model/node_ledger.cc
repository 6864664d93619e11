#include "fleet/model/node_ledger.h"

#include "fleet/model/desired_view.h"

namespace fleet {

const Answer* NodeLedger::answer_to(std::string_view id) const {
  for (const Answer& answer : answers) {
    if (answer.command == id) return &answer;
  }
  return nullptr;
}

void NodeLedger::answer(const Answer& answer) {
  if (answer_to(answer.command) != nullptr) return;
  if (answers.size() == answers_kept) answers.erase(answers.begin());
  answers.push_back(answer);
}

void NodeLedger::runs(std::string_view version) {
  if (version.empty() || is_same_version(version, came_to)) return;
  came_from.clear();
  came_to.clear();
}

bool NodeLedger::ran_before(std::string_view version, std::string_view running) const {
  return !came_from.empty() && is_same_version(came_from, version) &&
         (running.empty() || is_same_version(came_to, running));
}

}  // namespace fleet
