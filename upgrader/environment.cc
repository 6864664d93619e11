#include "upgrader/environment.h"

#include <fcntl.h>

#include <charconv>
#include <string_view>

#include "upgrader/descriptors.h"

namespace upgrader {
namespace {

constexpr std::string_view protocol_prefix = "AGENT_PROTOCOL";

// They serve the upgrader's own conversation with init. LISTEN_PIDFDID names this process and no
// other, and an agent cannot be told a new one before it runs.
constexpr std::string_view for_us_alone[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                             "LISTEN_PIDFDID"};

constexpr std::string_view listen_names[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

template <std::size_t count>
bool is_one_of(std::string_view name, const std::string_view (&names)[count]) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// The value of the first entry with that name, as getenv() has it.
std::optional<std::string_view> value_of(const char* const* entries, std::string_view name) {
  for (; *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    if (entry.size() > name.size() && name_of(entry) == name) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<int> number_in(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  int number = 0;
  const char* const end = text->data() + text->size();
  const std::from_chars_result result = std::from_chars(text->data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid) {
  if (number_in(value_of(inherited, "LISTEN_PID")) != own_pid) return std::nullopt;
  const std::optional<int> count = number_in(value_of(inherited, "LISTEN_FDS"));
  if (!count) return std::nullopt;
  for (int i = 0; i < *count; ++i) {
    if (::fcntl(first_passed_descriptor + i, F_GETFD) < 0) return std::nullopt;
  }
  return count;
}

Environment agent_environment(const char* const* inherited, std::optional<int> sockets,
                              std::optional<int> lock_descriptor) {
  Environment environment;
  for (; *inherited != nullptr; ++inherited) {
    const std::string_view entry = *inherited;
    const std::string_view name = name_of(entry);
    if (name.starts_with(protocol_prefix) || is_one_of(name, for_us_alone)) continue;
    if (!sockets && is_one_of(name, listen_names)) continue;
    if (name == "LISTEN_PID") {
      if (environment.listen_pid) continue;
      environment.listen_pid = environment.entries.size();
    }
    environment.entries.emplace_back(entry);
  }
  environment.entries.emplace_back("AGENT_PROTOCOL=1");
  if (lock_descriptor) {
    environment.entries.push_back("AGENT_PROTOCOL_LOCK_FD=" + std::to_string(*lock_descriptor));
  }
  return environment;
}

}  // namespace upgrader
