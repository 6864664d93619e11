// The programs that the supervisor names: open executables with their arguments. Each is closed as
// soon as the supervisor no longer names it.
#pragma once

#include <utility>
#include <vector>

#include "base/program.h"
#include "upgrader/core/event.h"

namespace upgrader {

class Programs {
 public:
  // Keeps the program under the lowest free number.
  [[nodiscard]] ProgramId add(Program program);

  // Returns the program of a number that add() gave and keep_only() has not dropped.
  [[nodiscard]] const Program& at(ProgramId id) const;

  // Closes all programs except these.
  void keep_only(const std::vector<ProgramId>& needed);

 private:
  [[nodiscard]] const Program* find(ProgramId id) const;

  std::vector<std::pair<ProgramId, Program>> programs_;  // only a few at a time
};

}  // namespace upgrader
