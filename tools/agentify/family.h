// Decides, on a list of processes, which of them descend from another one and so have to go, and
// which one is the daemon's main process. The list is read in process_list.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace agentify {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t started = 0;  // in the kernel's ticks
  bool ended = false;         // it only waits for its parent to reap it

  bool operator==(const Process&) const = default;
};

// Of what /proc/PID/stat says. The process's own name in it may hold anything.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

// All that descend from `ancestor`, without it, the nearest first.
[[nodiscard]] std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor);

// The process that becomes the main process after the old one has ended with status 0: the oldest
// living child of `keeper`, which gets all orphans. 0 if there is none.
[[nodiscard]] pid_t heir(const std::vector<Process>& all, pid_t keeper);

}  // namespace agentify
