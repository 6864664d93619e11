// What a program is executed with, argv and envp: made before there is a child, which must not
// allocate.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "upgrader/shell/environment.h"
#include "upgrader/shell/program.h"

namespace upgrader {

class Vectors {
 public:
  // With an adapter (which may be null) these are the adapter's: behind its own arguments stand
  // `--` and the program's, and in the environment where to find the program. The two programs must
  // outlive the vectors.
  Vectors(const Program& program, const Program* adapter, const Environment& environment);
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  [[nodiscard]] char* const* argv() const { return argv_.data(); }
  [[nodiscard]] char* const* envp() const { return envp_.data(); }

  // The descriptor that the environment names, which the child inherits; -1 where it names none.
  [[nodiscard]] int program_descriptor() const { return program_descriptor_; }

  // Puts the child's own pid where the environment has a place for it. Async-signal-safe.
  void write_pid(pid_t pid) const;

 private:
  void add_arguments(const Program& program);

  std::vector<std::string> entries_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  char* pid_text_ = nullptr;
  int program_descriptor_ = -1;
};

}  // namespace upgrader
