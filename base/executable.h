// Checks, from the beginning of an open file, whether the kernel could execute it. Only ELF
// programs for this machine and `#!` scripts are accepted, because no file is ever passed to a
// shell.
#pragma once

#include "base/result.h"

namespace upgrader {

enum class ExecutableKind {
  elf,
  script,
  unreadable,  // the file may be executed but not read, so only the kernel can check it
};

// Returns 0 if the effective user of this process may use the file as `how` says (X_OK, W_OK or
// both); otherwise an errno value.
[[nodiscard]] int may_use(const char* path, int how);

// Checks the file at `fd`, a regular file that is open for reading, and its interpreter or loader.
// `scripts_before` is the number of scripts that have led to this file as their interpreter. The
// reason of a refusal does not name the file: the caller puts the path before it. The errno of a
// refusal is ENOEXEC, ENOENT (no loader or interpreter), EACCES, ELOOP (too long a chain of
// scripts), ELIBBAD (a loader for another machine), or that of a failed system call.
[[nodiscard]] Result<ExecutableKind> judge_executable(int fd, int scripts_before = 0);

}  // namespace upgrader
