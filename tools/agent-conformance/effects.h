// Finds, in the output of strace, the system calls of an agent that have an effect outside the
// agent.
#pragma once

#include <string>
#include <vector>

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

}  // namespace conformance
