// Functions that start a process with its two pipes, find out how it ended, and signal it. They do
// not use libuv's uv_spawn. It cannot execute an open descriptor or write LISTEN_PID, it makes
// sockets instead of pipes, and it lets a shell run a file that is not a program.
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

// Everything that start_process() needs besides the program. The setting is the same for every
// agent.
struct ChildSetting {
  Environment environment;
  // How many descriptors, from 3 on, the process inherits with the same numbers: first the sockets
  // that init has passed, then the lock.
  int passed = 0;
  // The adapter: if set, this program is executed, and then runs the agent's program.
  std::optional<Program> adapter{};
};

// argv and envp of a program. They are made before the child exists: it shares the upgrader's
// memory, and must not allocate any.
class Vectors {
 public:
  // Makes argv and envp for the program, or for the adapter if there is one. For an adapter, argv
  // has the adapter's arguments, `--` and the program's arguments, and envp says where the program
  // is. Program and setting must outlive this object, which copies none of their texts.
  Vectors(const Program& program, const ChildSetting& setting);
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  // The const_casts give the types that execve() takes; execve() does not change the texts.
  [[nodiscard]] char* const* argv() const { return const_cast<char* const*>(argv_.data()); }
  [[nodiscard]] char* const* envp() const { return const_cast<char* const*>(envp_.data()); }

  // Returns the descriptor of the program, if an adapter inherits this descriptor and finds its
  // number in envp. Returns -1 if the adapter does not inherit it, or if there is no adapter.
  [[nodiscard]] int program_descriptor() const { return program_descriptor_; }

  // Writes the child's own pid into envp, if the environment has an entry for it.
  // Async-signal-safe.
  void write_pid(pid_t pid);

 private:
  void add_arguments(const Program& program);

  // The texts of the entries that are added to the environment. The child writes its own pid into
  // listen_pid_.
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
  OwnedFd input;   // the process's standard input, to which this process writes; non-blocking
  OwnedFd output;  // the process's standard output, from which this process reads; non-blocking
};

struct StartFailed {
  int error = 0;  // the errno value of the failure
  // True if exec has failed, or if the file at the path has been replaced, so that exec was not
  // called. False if an earlier step has failed, such as pipe2(), clone() or setsid(). exec may
  // fail because of the file, but also because the system lacks a resource: see `error`.
  bool exec_failed = false;

  bool operator==(const StartFailed&) const = default;
};

// Starts the program. Returns when it runs, or when the kernel has refused to execute it; after a
// failure neither a process nor an open descriptor is left. Before the call, descriptors 0 to 2
// must be open, and the descriptors that `setting` passes on must be close-on-exec.
//
// The child leads its own session, has an empty signal mask and default dispositions, and gets
// SIGTERM when this process dies, if the kernel supports that. The child has only descriptors 0, 1,
// 2 and those that `setting` passes on. An adapter also has the descriptor of the agent's program,
// unless the program is a script.
[[nodiscard]] std::variant<Started, StartFailed> start_process(const Program& program,
                                                               const ChildSetting& setting);

// Reaps a child if it has ended, and returns how; returns nothing if it still runs. For an unknown
// child, returns an unknown ending. Never blocks. The pid of a reaped child must not be used any
// more, since the kernel may give it to a new process.
[[nodiscard]] std::optional<Ending> try_reap(pid_t pid);

// Returns the pid of any child that has ended, without reaping it. This can be a child that this
// process has not started: process 1 and a subreaper become the parents of orphans, and a process
// that executes another program keeps its children.
[[nodiscard]] std::optional<pid_t> ended_child();

// Makes this process a subreaper: every descendant whose parent exits becomes a child of this
// process. Returns 0 or an errno value.
[[nodiscard]] int become_subreaper();

// Sends a signal to a child of this process. The child must not have been reaped. Returns 0 or an
// errno value.
[[nodiscard]] int send_signal(pid_t pid, int signal_number);

}  // namespace upgrader
