// The programs that the supervisor names: open executables with their arguments, each closed as
// soon as it is named no more.
#pragma once

#include <map>
#include <vector>

#include "upgrader/event.h"
#include "upgrader/program.h"

namespace upgrader {

class Programs {
 public:
  // Keeps the program under the lowest free number.
  [[nodiscard]] ProgramId add(Program program);

  // One that was added and has been kept since.
  [[nodiscard]] const Program& at(ProgramId id) const;

  // Closes all others.
  void keep_only(const std::vector<ProgramId>& needed);

 private:
  std::map<ProgramId, Program> programs_;
};

}  // namespace upgrader
