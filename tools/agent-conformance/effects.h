// The deeds of an agent that have an effect outside itself, as strace saw them. Reads strace's
// lines, and nothing else.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct Effects {
  std::vector<std::string> faults;  // calls that a held agent must not make: it binds, it listens
  std::vector<std::string> notes;   // in words: files that it changes
};

// The system calls that strace is asked for.
inline constexpr const char* traced_calls =
    "bind,listen,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat";

[[nodiscard]] Effects effects_of(const std::vector<std::string>& trace);

}  // namespace conformance
