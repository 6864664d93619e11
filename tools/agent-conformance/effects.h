// Finds, in the lines of strace, the system calls of an agent that have an effect outside itself.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct Effects {
  std::vector<std::string> faults;  // calls that a held agent must not make: bind, listen
  std::vector<std::string> notes;   // descriptions of the files that it changes
};

// The system calls that strace reports.
inline constexpr const char* traced_calls =
    "bind,listen,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat";

[[nodiscard]] Effects effects_of(const std::vector<std::string>& trace);

}  // namespace conformance
