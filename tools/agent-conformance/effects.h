// The effects of an agent outside of its own process: sockets and files. The functions of this file
// find these effects in the output of strace. They also make the script of the check that a held
// agent has no forbidden effects. An agent is held from its start until the upgrader activates it.
#pragma once

#include <string>
#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

struct Effects {
  // the agent's calls of bind and listen, which an agent must not make before it is activated
  std::vector<std::string> faults;
  // sentences for the report: which files the agent has opened for writing or changed
  std::vector<std::string> notes;
};

// The system calls that strace must report.
inline constexpr const char* traced_calls =
    "bind,listen,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat";

[[nodiscard]] Effects effects_of(const std::vector<std::string>& trace);

// Makes the script of the check that an agent does not listen on a socket while it is held (not
// activated yet). The agent is started, becomes ready, and must exit when its input is closed.
// strace reports all calls of bind and listen, and the files that the agent changes. Without
// strace, the check looks once for listening sockets in /proc.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
