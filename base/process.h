// Processes: starts one with its two pipes, learns how it ended, sends it a signal. Knows nothing
// of what is said on the pipes. It calls clone and exec itself: uv_spawn cannot start an open
// descriptor nor write LISTEN_PID, gives children sockets for pipes, and hands a file that is no
// program to a shell.
#pragma once

#include <sys/types.h>

#include <optional>
#include <variant>

#include "base/ending.h"
#include "base/environment.h"
#include "base/owned_fd.h"
#include "base/program.h"

namespace upgrader {

// Everything besides the program that start_process() needs; the same for every agent.
struct ChildSetting {
  Environment environment;
  int passed = 0;  // descriptors 3 to 2 + passed go to it at these numbers: sockets, then the lock
  // The adapter, which is executed in the place of the agent's program and runs it; or nothing.
  std::optional<Program> adapter{};
};

struct Started {
  pid_t pid = -1;
  OwnedFd input;   // its standard input: we write, non-blocking
  OwnedFd output;  // its standard output: we read, non-blocking
};

struct StartFailed {
  enum class Where {
    resources,  // no process or descriptor to be had
    exec        // the kernel refused the program
  };

  Where where = Where::resources;
  int error = 0;  // an errno value

  bool operator==(const StartFailed&) const = default;
};

// Returns once the program runs or has been refused; a failure leaves neither process nor
// descriptor behind. Descriptors 0 to 2 must be open and the passed ones close-on-exec here. The
// child leads its own session, gets SIGTERM when we die, where that can be had, with an empty
// signal mask and default dispositions, and has descriptors 0, 1, 2 and the passed ones only;
// an adapter, that of the program too, unless this is a script.
[[nodiscard]] std::variant<Started, StartFailed> start_process(const Program& program,
                                                               const ChildSetting& setting);

// How our child ended, once it has; from then on its pid is no longer ours. Never blocks. A child
// that the kernel does not know ended in an unknown way.
[[nodiscard]] std::optional<Ending> try_reap(pid_t pid);

// A child that has ended and has not been reaped: one that we started, or one that we were given,
// as process 1 or by whoever executed us and had started it. Looks only, and reaps nobody.
[[nodiscard]] std::optional<pid_t> ended_child();

// From now on whoever descends from us and loses its parent becomes our child. 0, or an errno.
[[nodiscard]] int become_subreaper();

// Only for a child of ours that has not been reaped. Returns 0 or an errno value.
[[nodiscard]] int send_signal(pid_t pid, int signal_number);

}  // namespace upgrader
