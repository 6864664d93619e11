#include "fleet/model/node_ledger.h"

namespace fleet {

const Answer* NodeLedger::answer_to(std::string_view id) const {
  for (const Answer& answer : answers) {
    if (answer.command == id) return &answer;
  }
  return nullptr;
}

void NodeLedger::answer(std::string_view id, std::string_view result, std::string_view instance) {
  if (answer_to(id) != nullptr) return;
  if (answers.size() == answers_kept) answers.erase(answers.begin());
  answers.push_back({std::string(id), std::string(result), std::string(instance)});
}

}  // namespace fleet
