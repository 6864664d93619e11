#include "upgrader/programs.h"

#include <algorithm>
#include <utility>

#include "upgrader/check.h"

namespace upgrader {

ProgramId Programs::add(Program program) {
  ProgramId id = 1;
  while (programs_.contains(id))
    ++id;
  programs_.emplace(id, std::move(program));
  return id;
}

const Program& Programs::at(ProgramId id) const {
  const auto found = programs_.find(id);
  UPGRADER_CHECK(found != programs_.end());
  return found->second;
}

void Programs::keep_only(const std::vector<ProgramId>& needed) {
  std::erase_if(programs_, [&](const auto& entry) {
    return std::find(needed.begin(), needed.end(), entry.first) == needed.end();
  });
}

}  // namespace upgrader
