// The mark by which a process recognises that it has been an agent.
#include "agent-protocol/cpp/agent/agent_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

namespace {

// The environment variable of the mark. Its text is this process's pid, a blank, and the time at
// which this process was started. Processes that the agent starts inherit the variable, but have
// other pids, so they are not taken for the agent.
constexpr const char* mark_variable = "LIBAGENT_PROTOCOL_PROCESS";
constexpr const char* unknown_start = "0";

bool mark_in_memory = false;

// Returns when this process was started, in the kernel's ticks: the 22nd field of /proc/self/stat,
// which stays the same when the process executes another program.
std::string start_of_process() {
  constexpr int first_field_behind_name = 3;
  constexpr int start_field = 22;
  std::array<char, 1024> bytes{};
  const Descriptor file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t count = ::read(file.number(), bytes.data(), bytes.size());
  std::string_view rest(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  // The program's name may contain blanks.
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  for (int field = first_field_behind_name; field <= start_field; ++field) {
    rest.remove_prefix(rest.find(' ') + 1);
  }
  const std::string_view start = rest.substr(0, rest.find(' '));
  return start.empty() ? unknown_start : std::string(start);
}

std::string number_of_process() {
  return std::to_string(::getpid()) + " ";
}

bool names_this_process(std::string_view mark) {
  const std::string number = number_of_process();
  if (!mark.starts_with(number)) return false;
  const std::string_view start = mark.substr(number.size());
  const std::string own = start_of_process();
  return start == own || start == unknown_start || own == unknown_start;
}

}  // namespace

bool leave_mark() {
  const std::string mark = number_of_process() + start_of_process();
  mark_in_memory = ::setenv(mark_variable, mark.c_str(), 1) == 0;
  return mark_in_memory;
}

bool has_mark() {
  const char* const mark = std::getenv(mark_variable);
  return mark_in_memory || (mark != nullptr && names_this_process(mark));
}

}  // namespace agent_protocol
