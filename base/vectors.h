// argv and envp of a program. They are made before the child exists, since a child must not
// allocate memory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/program.h"

namespace upgrader {

class Vectors {
 public:
  // If `adapter` is not null, the vectors are the adapter's: after its own arguments come `--` and
  // the program's, and the environment says where to find the program. The two programs and the
  // environment must outlive the vectors, which copy none of their texts.
  Vectors(const Program& program, const Program* adapter, const Environment& environment);
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  // These have the types that execve takes; it changes none of the texts.
  [[nodiscard]] char* const* argv() const { return const_cast<char* const*>(argv_.data()); }
  [[nodiscard]] char* const* envp() const { return const_cast<char* const*>(envp_.data()); }

  // Returns the program's descriptor, which the environment names and the child inherits; -1 if it
  // names none.
  [[nodiscard]] int program_descriptor() const { return program_descriptor_; }

  // Writes the child's own pid into the environment, if that has a place for it. Async-signal-safe.
  void write_pid(pid_t pid);

 private:
  void add_arguments(const Program& program);

  // The texts of the entries that are added to the environment. The child writes its pid into the
  // first one.
  char listen_pid_[24] = "LISTEN_PID=";
  std::string lock_fd_;
  std::string program_path_;
  std::string program_fd_;
  std::vector<const char*> argv_;
  std::vector<const char*> envp_;
  int program_descriptor_ = -1;
};

}  // namespace upgrader
