// argv and envp of a program: made before there is a child, since the child must not allocate.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/program.h"

namespace upgrader {

class Vectors {
 public:
  // With an adapter (which may be null) these are the adapter's: behind its own arguments stand
  // `--` and the program's, and in the environment where to find the program. The two programs and
  // the environment must outlive the vectors, which copy none of their texts.
  Vectors(const Program& program, const Program* adapter, const Environment& environment);
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  // As execve takes them, which writes to none of the texts.
  [[nodiscard]] char* const* argv() const { return const_cast<char* const*>(argv_.data()); }
  [[nodiscard]] char* const* envp() const { return const_cast<char* const*>(envp_.data()); }

  // The descriptor that the environment names, which the child inherits; -1 where it names none.
  [[nodiscard]] int program_descriptor() const { return program_descriptor_; }

  // Puts the child's own pid where the environment has a place for it. Async-signal-safe.
  void write_pid(pid_t pid);

 private:
  void add_arguments(const Program& program);

  // Entries that the vectors add to the environment. The child writes its pid into the first.
  char listen_pid_[24] = "LISTEN_PID=";
  std::string lock_fd_;
  std::string program_path_;
  std::string program_fd_;
  std::vector<const char*> argv_;
  std::vector<const char*> envp_;
  int program_descriptor_ = -1;
};

}  // namespace upgrader
