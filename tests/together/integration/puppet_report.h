// What a process finds itself in: everything that the protocol page says of an agent's start.
#pragma once

#include <string>

namespace puppet {

// Entries `key=value`, each ended by NUL: cwd, umask, nice, sid, pid, death_signal, limit:N,
// status:FIELD, fd:N, flags:N, env (one a variable). To be called before any descriptor is opened.
std::string report();

}  // namespace puppet
