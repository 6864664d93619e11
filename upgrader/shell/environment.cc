#include "upgrader/shell/environment.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/descriptors.h"
#include "base/number.h"
#include "upgrader/core/words.h"
#include "upgrader/shell/log.h"

namespace upgrader {
namespace {

// Capped at a day, as all timeouts are: an agent may send heartbeats more often than asked.
constexpr Duration watchdog_max = std::chrono::hours{24};

// Of a value that makes no sense, in the log.
constexpr std::size_t value_bytes_shown = 64;

constexpr std::string_view protocol_prefix = "AGENT_PROTOCOL";

// They serve the upgrader's own conversation with init. LISTEN_PIDFDID names this process and no
// other, and an agent cannot be told a new one before it runs.
constexpr std::string_view for_us_alone[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                             "LISTEN_PIDFDID"};

constexpr std::string_view listen_names[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::count(std::begin(names), std::end(names), name) > 0;
}

// The value of the first entry with that name, as getenv() has it.
std::optional<std::string_view> value_of(const char* const* entries, std::string_view name) {
  for (; *entries != nullptr; ++entries) {
    if (std::strncmp(*entries, name.data(), name.size()) != 0) continue;
    if ((*entries)[name.size()] == '=') return *entries + name.size() + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_in(std::optional<std::string_view> text,
                                      std::int64_t max = number_max) {
  return text ? whole_number(*text, max) : std::nullopt;
}

}  // namespace

std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid) {
  if (number_in(value_of(inherited, "LISTEN_PID")) != own_pid) return std::nullopt;
  const std::optional<std::int64_t> count =
      number_in(value_of(inherited, "LISTEN_FDS"), std::numeric_limits<int>::max());
  if (!count) return std::nullopt;
  for (int i = 0; i < *count; ++i) {
    if (::fcntl(first_passed_descriptor + i, F_GETFD) < 0) return std::nullopt;
  }
  return static_cast<int>(*count);
}

WatchdogWish watchdog_wish(const char* const* inherited, pid_t own_pid) {
  const auto malformed = [](std::string_view name, std::string_view value) {
    return WatchdogWish{{},
                        "{} is ignored: it is not a number that makes sense"_with(
                            escape("{}={}"_with(name, value), value_bytes_shown))};
  };
  const auto time = value_of(inherited, "WATCHDOG_USEC");
  const auto pid = value_of(inherited, "WATCHDOG_PID");
  if (!time) return {};
  if (pid && !number_in(pid)) return malformed("WATCHDOG_PID", *pid);
  if (pid && number_in(pid) != own_pid) return {};
  const std::optional<std::int64_t> microseconds = number_in(time);
  if (!microseconds || *microseconds == 0) return malformed("WATCHDOG_USEC", *time);
  const auto wanted =
      std::chrono::duration_cast<Duration>(std::chrono::microseconds(*microseconds));
  return {std::clamp(wanted, Duration{1}, watchdog_max), ""};
}

Environment agent_environment(const char* const* inherited, std::optional<int> sockets,
                              std::optional<int> lock_descriptor) {
  Environment environment;
  for (; *inherited != nullptr; ++inherited) {
    // Looks at the name alone: a value may be kilobytes long.
    const std::string_view name(*inherited, std::strcspn(*inherited, "="));
    if (name.starts_with(protocol_prefix) || is_one_of(name, for_us_alone)) continue;
    if (!sockets && is_one_of(name, listen_names)) continue;
    if (name == "LISTEN_PID") {
      if (environment.listen_pid) continue;
      environment.listen_pid = environment.entries.size();
    }
    environment.entries.push_back(*inherited);
  }
  environment.entries.push_back("AGENT_PROTOCOL=1");
  environment.lock_descriptor = lock_descriptor;
  return environment;
}

}  // namespace upgrader
