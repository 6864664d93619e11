// The programs to which the supervisor refers by number: open executables with their arguments. A
// program is closed as soon as the supervisor no longer refers to it.
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
  // Keeps the program. Returns its number. Numbers begin at 1, and no number is used twice.
  [[nodiscard]] ProgramId add(Program program) {
    programs_.emplace_back(++last_, std::move(program));
    return last_;
  }

  // Returns the program with this number, which add() returned and keep_only() has not dropped.
  [[nodiscard]] const Program& at(ProgramId id) const {
    const auto found = std::find_if(programs_.begin(), programs_.end(),
                                    [id](const auto& entry) { return entry.first == id; });
    UPGRADER_CHECK(found != programs_.end());
    return found->second;
  }

  // Closes all programs except those in `needed`.
  void keep_only(const std::vector<ProgramId>& needed) {
    std::erase_if(programs_, [&](const auto& entry) {
      return std::count(needed.begin(), needed.end(), entry.first) == 0;
    });
  }

 private:
  ProgramId last_ = 0;
  std::vector<std::pair<ProgramId, Program>> programs_;  // the open programs, never more than a few
};

}  // namespace upgrader
