// Processes: starts one with its two pipes, finds out how it ended, sends it a signal. Does not
// look at what is sent on the pipes. It calls clone and exec itself, since uv_spawn cannot start an
// open descriptor or write LISTEN_PID, gives children sockets for pipes, and hands a file that is
// not a program to a shell.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ending.h"
#include "base/environment.h"
#include "base/owned_fd.h"
#include "base/program.h"

namespace upgrader {

// Everything besides the program that start_process() needs; the same for every agent.
struct ChildSetting {
  Environment environment;
  // The number of descriptors, from 3 on, that the process gets under the same numbers: the
  // sockets, then the lock.
  int passed = 0;
  // The adapter, which is executed in the place of the agent's program and then runs that program.
  // Without a value, the agent's program is executed.
  std::optional<Program> adapter{};
};

// argv and envp of a program. They are made before the child exists, since a child must not
// allocate memory.
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

struct Started {
  pid_t pid = -1;
  OwnedFd input;   // the process's standard input, which we write; non-blocking
  OwnedFd output;  // the process's standard output, which we read; non-blocking
};

struct StartFailed {
  enum class Where {
    resources,  // there is no process or descriptor left
    exec        // the kernel refused the program
  };

  Where where = Where::resources;
  int error = 0;  // an errno value

  bool operator==(const StartFailed&) const = default;
};

// Starts the program. Returns when it runs or has been refused; a failure leaves neither process
// nor descriptor behind. Descriptors 0 to 2 must be open, and the passed ones must be close-on-exec
// in this process. The child leads its own session, has an empty signal mask and default
// dispositions, and gets SIGTERM when we die, if the kernel can do that. It has only descriptors 0,
// 1, 2 and the passed ones; an adapter also has that of the program, unless the program is a
// script.
[[nodiscard]] std::variant<Started, StartFailed> start_process(const Program& program,
                                                               const ChildSetting& setting);

// Returns how our child ended, once it has; from then on its pid is no longer ours. Never blocks.
// For a child that the kernel does not know, returns an unknown ending.
[[nodiscard]] std::optional<Ending> try_reap(pid_t pid);

// Returns a child that has ended and has not been reaped. It may be one that we did not start: we
// inherit children as process 1 or as a subreaper, and from the program that executed us. Reaps
// nothing.
[[nodiscard]] std::optional<pid_t> ended_child();

// Makes every descendant that loses its parent our child from now on. Returns 0 or an errno value.
[[nodiscard]] int become_subreaper();

// Sends a signal to a child of ours, which must not have been reaped. Returns 0 or an errno value.
[[nodiscard]] int send_signal(pid_t pid, int signal_number);

}  // namespace upgrader
