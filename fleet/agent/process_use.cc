#include "fleet/agent/process_use.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "fleet/common/text_file.h"

namespace fleet {
namespace {

constexpr std::size_t processes_max = 64;

std::string proc(std::int64_t pid) {
  return "/proc/" + std::to_string(pid);
}

// Returns the processor time of the process and of its children that have ended. In /proc/PID/stat,
// these are the four numbers from the 14th member on. The second member, in parentheses, may hold
// blanks.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid) {
  const std::string text = content_of_file(proc(pid) + "/stat");
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream members(text.substr(end_of_name + 1));
  std::string skipped;
  constexpr int members_between = 11;
  for (int i = 0; i < members_between; ++i)
    members >> skipped;
  std::int64_t sum = 0;
  constexpr int times = 4;
  for (int i = 0; i < times; ++i) {
    std::int64_t ticks = 0;
    if (!(members >> ticks)) return std::nullopt;
    sum += ticks;
  }
  constexpr std::int64_t ms_a_second = 1'000;
  return sum * ms_a_second / std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
}

void add_children(std::int64_t pid, std::vector<std::int64_t>& pids) {
  const std::string task = "/task/" + std::to_string(pid) + "/children";
  std::istringstream children(content_of_file(proc(pid) + task));
  std::int64_t child = 0;
  while (pids.size() < processes_max && children >> child)
    pids.push_back(child);
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> more) {
  if (more) sum = sum.value_or(0) + *more;
}

}  // namespace

ProcessUse use_of_process(std::int64_t pid) {
  ProcessUse use;
  if (pid <= 0) return use;
  std::vector<std::int64_t> pids{pid};
  for (std::size_t i = 0; i < pids.size(); ++i) {
    add(use.peak_kib, upgraderctl::peak_memory_kib(pids[i]));
    add(use.cpu_ms, cpu_ms_of(pids[i]));
    add_children(pids[i], pids);
  }
  return use;
}

}  // namespace fleet
