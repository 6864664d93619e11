// Finds, in a list of processes, the descendants of a process, which must be killed, and the
// daemon's main process. process_list.h reads the list.
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
  std::uint64_t started = 0;  // the process's start, in clock ticks since the boot
  bool ended = false;         // the process is a zombie: its parent has not reaped it yet
  bool busy = false;          // the process runs, or waits for a processor or a disk

  bool operator==(const Process&) const = default;
};

// Parses the text of /proc/PID/stat. The process's own name in it may contain any bytes.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

// Returns all descendants of `ancestor`: its children first, then their children, and so on.
[[nodiscard]] std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor);

// Returns the process that becomes the daemon's main process, or 0 if there is none. Called when
// the old main process has ended with status 0, as when a daemon goes into the background. The new
// one is the oldest living child of `keeper`, which inherits all orphans of the daemon.
[[nodiscard]] pid_t heir(const std::vector<Process>& all, pid_t keeper);

}  // namespace agentify
