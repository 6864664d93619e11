// Starts and kills the processes of `fleetctl dev`. Each runs in a session of its own. So a Ctrl-C
// in the terminal reaches only fleetctl, which then stops the processes in order.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/ending.h"

namespace fleetctl {

struct ChildTerms {
  // The command line, of which the first word is the path of the program.
  std::vector<std::string> arguments = {};
  // Variables NAME=value that the child gets besides this process's own.
  std::vector<std::string> environment = {};
  std::string log = {};  // a file, to which output and errors are appended
};

struct ChildStarted {
  pid_t pid = -1;
  std::string error = {};  // why the child was not started; empty if it was
};

// Starts a child. Its standard input is /dev/null. The kernel sends it SIGTERM if fleetctl dies.
[[nodiscard]] ChildStarted start_child(const ChildTerms& terms);

// Runs a program to its end. Returns an empty text if its exit status is 0. Otherwise returns how
// it ended, with the last line of its log.
[[nodiscard]] std::string run_child(const ChildTerms& terms);

// A child process that has ended, and how it ended. reap_child() returns no value if no child has
// ended, and sets `none_left` to true if there are no children. Orphans, whose own parent has died,
// count as children, too.
struct ChildEnded {
  pid_t pid = -1;
  upgrader::Ending ending = {};
};
[[nodiscard]] std::optional<ChildEnded> reap_child(bool& none_left);

// Kills all child processes that exist now.
void kill_children();

}  // namespace fleetctl
