// Functions that start a process with its two pipes, find out how a process ended, and send it a
// signal. They do not read or write the pipes. They call clone and exec themselves, since libuv's
// uv_spawn has four faults here: it cannot execute an open descriptor, it cannot write LISTEN_PID,
// it gives children sockets instead of pipes, and it lets a shell run a file that is not a program.
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
  // How many descriptors, from 3 on, the started process inherits with their numbers unchanged:
  // first the sockets that init has passed, then the lock.
  int passed = 0;
  // The adapter: a program that is executed instead of the agent's program, and then runs the
  // agent's program. If absent, the agent's program is executed.
  std::optional<Program> adapter{};
};

// argv and envp of a program. They are made before the child exists, since the child shares the
// upgrader's memory and must not allocate any.
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

  // Returns the program's descriptor, if an adapter inherits it and finds its number in envp; -1 if
  // no such descriptor is passed on.
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

// Starts the program. Returns when the program runs or the kernel has refused to execute it. After
// a failure neither a process nor an open descriptor is left. Before the call, descriptors 0 to 2
// must be open, and the descriptors that `setting` passes on must be close-on-exec in this process;
// the child removes this flag. The child leads its own session, has an empty signal mask and
// default dispositions, and gets SIGTERM when this process dies, if the kernel supports that. The
// child has only descriptors 0, 1, 2 and those that are passed on. If the child is an adapter, it
// also has the descriptor of the agent's program, unless that program is a script.
[[nodiscard]] std::variant<Started, StartFailed> start_process(const Program& program,
                                                               const ChildSetting& setting);

// Reaps a child that has ended, and returns how it ended. Returns nothing if the child still runs.
// For a child that the kernel does not know, returns an unknown ending. Never blocks. After a child
// has been reaped, its pid must not be used any more: the kernel may give it to a new process.
[[nodiscard]] std::optional<Ending> try_reap(pid_t pid);

// Returns the pid of a child that has ended and has not been reaped, without reaping it. It need
// not be a child that this process has started: process 1 and a subreaper become the parents of
// orphans, and a process that executes a different program keeps its children.
[[nodiscard]] std::optional<pid_t> ended_child();

// Makes this process a subreaper: every descendant whose parent exits becomes a child of this
// process. Returns 0 or an errno value.
[[nodiscard]] int become_subreaper();

// Sends a signal to a child of this process. The child must not have been reaped. Returns 0 or an
// errno value.
[[nodiscard]] int send_signal(pid_t pid, int signal_number);

}  // namespace upgrader
