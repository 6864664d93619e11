// Processes that `fleetctl dev` starts. They run in sessions of their own, so that a Ctrl-C in the
// terminal reaches only fleetctl, which then stops them in order.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/ending.h"

namespace fleetctl {

struct ChildTerms {
  std::vector<std::string> arguments = {};    // the path of the program first
  std::vector<std::string> environment = {};  // NAME=value, in addition to this process's own
  std::string log = {};                       // standard output and error are appended to this file
};

struct ChildStarted {
  pid_t pid = -1;
  std::string error = {};  // why it was not started; empty if it runs
};

// Starts a child. Its standard input is /dev/null, and the kernel sends it SIGTERM when fleetctl
// dies.
[[nodiscard]] ChildStarted start_child(const ChildTerms& terms);

// Runs a program to its end. Returns an empty text if it has exited with 0, and otherwise how it
// ended, with the last line of its log.
[[nodiscard]] std::string run_child(const ChildTerms& terms);

// A child of this process that has ended, whoever started it, and how it ended. reap_child()
// returns no value if no child has ended, and sets `none_left` if there is no child at all.
struct ChildEnded {
  pid_t pid = -1;
  upgrader::Ending ending = {};
};
[[nodiscard]] std::optional<ChildEnded> reap_child(bool& none_left);

// Kills all present children.
void kill_children();

}  // namespace fleetctl
