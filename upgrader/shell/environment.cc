#include "upgrader/shell/environment.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/form.h"
#include "base/visible.h"

namespace upgrader {
namespace {

// The longest time between two WATCHDOG=1, even if init allows a longer one. All timeouts of the
// upgrader have the same limit.
constexpr Duration watchdog_max = std::chrono::hours{24};

// The most bytes of an invalid value that are shown in the log.
constexpr std::size_t value_bytes_shown = 64;

constexpr std::string_view protocol_prefix = "AGENT_PROTOCOL";

// The variables by which init and the upgrader communicate; agents do not get them. LISTEN_PIDFDID
// would be wrong for an agent, because it identifies the process to which init has passed sockets.
// The right value for an agent is not known before the agent runs.
constexpr std::string_view for_us_alone[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                             "LISTEN_PIDFDID"};

constexpr std::string_view listen_names[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

bool is_one_of(std::string_view name, const auto& names) {
  return std::count(std::begin(names), std::end(names), name) > 0;
}

}  // namespace

Result<Duration> watchdog_wish(pid_t own_pid) {
  const auto malformed = [](const char* name) {
    const char* value = std::getenv(name);
    return Refusal{"{} is ignored: it is not a number that makes sense"_with(
        escape("{}={}"_with(name, value == nullptr ? "" : value), value_bytes_shown))};
  };
  if (std::getenv("WATCHDOG_USEC") == nullptr) return Duration{0};
  if (std::getenv("WATCHDOG_PID") != nullptr) {
    const std::optional<std::int64_t> pid = number_in("WATCHDOG_PID");
    if (!pid) return malformed("WATCHDOG_PID");
    if (*pid != own_pid) return Duration{0};
  }
  const std::optional<std::int64_t> microseconds = number_in("WATCHDOG_USEC");
  if (!microseconds || *microseconds == 0) return malformed("WATCHDOG_USEC");
  const auto wanted =
      std::chrono::duration_cast<Duration>(std::chrono::microseconds(*microseconds));
  return std::clamp(wanted, Duration{1}, watchdog_max);
}

Environment agent_environment(const char* const* inherited, std::optional<int> sockets,
                              std::optional<int> lock_descriptor) {
  Environment environment;
  for (; *inherited != nullptr; ++inherited) {
    // Look only at the part before the `=`, since the value may be kilobytes long.
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
