// Decides, on a list of processes, which of them descend from a certain process and must be killed,
// and which one is the daemon's main process. process_list.h reads the list.
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
  std::uint64_t started = 0;  // when the process started: clock ticks since the boot
  bool ended = false;         // a zombie, which waits for its parent to reap it
  bool busy = false;          // the process computes, or waits for a processor or a disk

  bool operator==(const Process&) const = default;
};

// Parses the text of /proc/PID/stat. The process's own name in it may contain any bytes.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

// Returns all descendants of `ancestor`, the nearest first.
[[nodiscard]] std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor);

// Returns the process that becomes the main process after the old one has ended with status 0, as
// happens when a daemon goes into the background. It is the oldest living child of `keeper`, since
// the keeper inherits all orphans. Returns 0 if there is none.
[[nodiscard]] pid_t heir(const std::vector<Process>& all, pid_t keeper);

}  // namespace agentify
