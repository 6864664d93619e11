// Judges what an open file begins with: whether the kernel could run it. Nothing is ever handed to
// a shell, so what is neither an ELF program for this machine nor a `#!` script is refused.
#pragma once

#include "base/result.h"

namespace upgrader {

enum class ExecutableKind {
  elf,
  script,
  unreadable,  // may be executed but not read: the kernel judges it, and never asks a shell
};

// 0 if our effective user may do with the file what `how` says (X_OK, W_OK, both), or an errno.
[[nodiscard]] int may_use(const char* path, int how);

// `fd` is open for reading, and is a regular file. Interpreters and loaders are judged too.
// The refusal follows a path and ": "; its errno is ENOEXEC, ENOENT (loader or interpreter is
// missing), EACCES, ELOOP, ...
[[nodiscard]] Result<ExecutableKind> judge_executable(int fd);

}  // namespace upgrader
