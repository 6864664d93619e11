#include "tools/agentify/family.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace agentify {
namespace {

constexpr int state_field = 3;
constexpr int parent_field = 4;
constexpr int start_field = 22;

template <class Number>
bool take_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end != text.data();
}

}  // namespace

std::optional<Process> parse_process(std::string_view stat) {
  Process process;
  if (!take_number(stat, process.pid)) return std::nullopt;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 2);
  for (int field = state_field; field <= start_field; ++field) {
    if (rest.empty()) return std::nullopt;
    if (field == state_field) {
      process.ended = rest[0] == 'Z' || rest[0] == 'X';
      process.busy = rest[0] == 'R' || rest[0] == 'D';
    }
    if (field == parent_field && !take_number(rest, process.parent)) return std::nullopt;
    if (field == start_field && !take_number(rest, process.started)) return std::nullopt;
    const std::size_t blank = rest.find(' ');
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return process;
}

std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor) {
  std::vector<Process> found;
  std::vector<pid_t> parents = {ancestor};
  while (!parents.empty()) {
    std::vector<pid_t> next;
    for (const Process& process : all) {
      if (process.pid == ancestor || process.pid == process.parent) continue;
      const bool child = std::find(parents.begin(), parents.end(), process.parent) != parents.end();
      const bool known = std::any_of(found.begin(), found.end(), [&process](const Process& other) {
        return other.pid == process.pid;
      });
      if (!child || known) continue;
      found.push_back(process);
      next.push_back(process.pid);
    }
    parents = std::move(next);
  }
  return found;
}

pid_t heir(const std::vector<Process>& all, pid_t keeper) {
  const Process* oldest = nullptr;
  for (const Process& process : all) {
    if (process.parent != keeper || process.ended) continue;
    if (oldest == nullptr || process.started < oldest->started ||
        (process.started == oldest->started && process.pid < oldest->pid)) {
      oldest = &process;
    }
  }
  return oldest == nullptr ? 0 : oldest->pid;
}

}  // namespace agentify
