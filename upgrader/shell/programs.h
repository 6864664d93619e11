// The programs that the supervisor names: open executables with their arguments. Each is closed as
// soon as the supervisor no longer names it.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/program.h"
#include "upgrader/core/event.h"

namespace upgrader {

class Programs {
 public:
  // Keeps the program under the lowest free number.
  [[nodiscard]] ProgramId add(Program program) {
    ProgramId id = 1;
    while (find(id) != nullptr)
      ++id;
    programs_.emplace_back(id, std::move(program));
    return id;
  }

  // Returns the program of a number that add() gave and keep_only() has not dropped.
  [[nodiscard]] const Program& at(ProgramId id) const {
    const Program* const found = find(id);
    UPGRADER_CHECK(found != nullptr);
    return *found;
  }

  // Closes all programs except those in `needed`.
  void keep_only(const std::vector<ProgramId>& needed) {
    std::erase_if(programs_, [&](const auto& entry) {
      return std::count(needed.begin(), needed.end(), entry.first) == 0;
    });
  }

 private:
  [[nodiscard]] const Program* find(ProgramId id) const {
    for (const auto& [known, program] : programs_) {
      if (known == id) return &program;
    }
    return nullptr;
  }

  std::vector<std::pair<ProgramId, Program>> programs_;  // the open programs, never more than a few
};

}  // namespace upgrader
