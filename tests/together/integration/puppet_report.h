// Reports those facts about a process at its start that the protocol page promises to an agent.
#pragma once

#include <string>

namespace puppet {

// Returns entries `key=value`, each ended by NUL: cwd, umask, nice, sid, pid, death_signal,
// limit:N, status:FIELD, fd:N, flags:N, env (one for each variable). Call it before any descriptor
// is opened.
std::string report();

}  // namespace puppet
