// Starts and kills the child processes of `fleetctl dev`. Each has its own session, so Ctrl-C
// reaches only fleetctl, which then stops the children in the right order.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/ending.h"

namespace fleetctl {

struct ChildTerms {
  // The command line. Its first word is the path of the program.
  std::vector<std::string> arguments = {};
  // Variables NAME=value for the child, in addition to the variables of this process.
  std::vector<std::string> environment = {};
  std::string log = {};  // the file for standard output and standard error
};

struct ChildStarted {
  pid_t pid = -1;
  std::string error = {};  // why the child was not started; empty after a success
};

// Starts a child process. Its standard input is /dev/null. If fleetctl dies, the kernel sends the
// child SIGTERM.
[[nodiscard]] ChildStarted start_child(const ChildTerms& terms);

// Runs a program until it exits. Returns an empty string after exit status 0, or else how it ended
// and the last line of its log.
[[nodiscard]] std::string run_child(const ChildTerms& terms);

struct ChildEnded {
  pid_t pid = -1;
  upgrader::Ending ending = {};
};
// Returns a child process that has exited, or no value if none has. Each child is returned once,
// including orphans that this process has adopted. Sets `none_left` to whether this process has no
// children any more.
[[nodiscard]] std::optional<ChildEnded> reap_child(bool& none_left);

// Kills all child processes of this process.
void kill_children();

}  // namespace fleetctl
