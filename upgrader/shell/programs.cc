#include "upgrader/shell/programs.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace upgrader {

ProgramId Programs::add(Program program) {
  ProgramId id = 1;
  while (find(id) != nullptr)
    ++id;
  programs_.emplace_back(id, std::move(program));
  return id;
}

const Program& Programs::at(ProgramId id) const {
  const Program* const found = find(id);
  UPGRADER_CHECK(found != nullptr);
  return *found;
}

const Program* Programs::find(ProgramId id) const {
  for (const auto& [known, program] : programs_) {
    if (known == id) return &program;
  }
  return nullptr;
}

void Programs::keep_only(const std::vector<ProgramId>& needed) {
  std::erase_if(programs_, [&](const auto& entry) {
    return std::count(needed.begin(), needed.end(), entry.first) == 0;
  });
}

}  // namespace upgrader
