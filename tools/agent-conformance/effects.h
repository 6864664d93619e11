// The effects of an agent outside itself. Finds them among the system calls in the output of
// strace, and makes the script of the check that a held agent has none.
#pragma once

#include <string>
#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

struct Effects {
  // the calls of bind and listen, which a held agent must not make
  std::vector<std::string> faults;
  // sentences for the report: which files the agent has opened for writing or changed
  std::vector<std::string> notes;
};

// The system calls that strace must report.
inline constexpr const char* traced_calls =
    "bind,listen,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat";

[[nodiscard]] Effects effects_of(const std::vector<std::string>& trace);

// Makes the script of a check: a held agent must have no effect outside itself. The step `start`
// starts agent 0, which becomes ready and is held for a while. Then its input is closed, and the
// agent must exit. If strace can be used, all system calls of the agent are judged. Otherwise the
// check only finds out whether the agent listens on a socket.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
