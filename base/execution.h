// Finds out which file a process runs. Between the check of a path and its execution the path may
// come to name another file, so the caller checks again after the exec.
#pragma once

#include <sys/types.h>

#include "base/program.h"

namespace upgrader {

// False where there is no /proc to tell.
[[nodiscard]] bool executions_can_be_seen();

enum class Runs {
  program,  // that very file; or the process is about to end, which it will tell by itself
  another,  // another file: the path was exchanged, or the program has executed another one since
  unknown   // the kernel hides it from us, or it is gone
};

// Of a child that has been executed and has not been reaped.
[[nodiscard]] Runs what_runs(pid_t pid, const Program& program);

}  // namespace upgrader
