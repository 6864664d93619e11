// A check whether the kernel could run an open file, by the beginning of that file. No file is ever
// passed to a shell, so a file that is neither an ELF program for this machine nor a `#!` script is
// refused.
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

// Checks the file at `fd`, which must be a regular file that is open for reading, and its
// interpreter or loader. If this file is the interpreter of a script, `scripts_before` is the
// number of scripts in the chain that led to it. The caller puts the file's path and ": " before
// the reason of a refusal. The errno of a refusal is ENOEXEC, ENOENT (the loader or interpreter is
// missing), EACCES, ELOOP (the chain of scripts is too long), ELIBBAD (the loader is for a
// different machine), or the errno of a failed system call.
[[nodiscard]] Result<ExecutableKind> judge_executable(int fd, int scripts_before = 0);

}  // namespace upgrader
