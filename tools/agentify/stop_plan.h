// The plan for stopping a daemon: which signals are sent, how long to wait after each, and when
// SIGKILL follows. This file only makes plans; the daemon's parent process, the keeper (keeper.h),
// sends the signals.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/agentify/duration.h"

namespace agentify {

struct StopStep {
  int signal = 0;
  // how long to wait after the signal; if absent, wait until the deadline of the stop
  std::optional<Duration> time = {};

  bool operator==(const StopStep&) const = default;
};

struct StopPlan {
  std::vector<StopStep> steps;

  [[nodiscard]] bool names(int signal) const;
  bool operator==(const StopPlan&) const = default;
};

// Parses `SIGNAL[:D[,SIGNAL:D ...]]`. Only the last step may be without a time D. Returns the
// reason, in words, if the plan is wrong.
[[nodiscard]] std::variant<StopPlan, std::string> parse_stop_plan(std::string_view text);

// Returns the plan that sends SIGTERM, and SIGKILL only at the deadline.
[[nodiscard]] StopPlan default_stop_plan();

// The default time limit of a stop: the same as the default of the upgrader's --stop-timeout.
inline constexpr Duration stop_time_default = std::chrono::seconds{90};

// Returns how long before the deadline SIGKILL must be sent: a fifth of the stop's time limit, but
// at most a second. In this time all processes must exit and `stopped` must be sent.
[[nodiscard]] Duration stop_margin(Duration deadline);

// A signal that is sent to stop the daemon, and the time at which it must be sent.
struct StopMoment {
  Time at{};
  int signal = 0;

  bool operator==(const StopMoment&) const = default;
};

// Returns the signals of the plan, with the time at which each must be sent. The first signal is
// sent at `now`. SIGKILL is sent last, when the time of the last step is over, but not later than
// stop_margin() before the deadline. Without a deadline, SIGKILL is sent not later than
// stop_time_default after `now`. If the last step has no time, SIGKILL is sent at this latest
// moment. Signals that would come after SIGKILL are left out.
[[nodiscard]] std::vector<StopMoment> schedule(const StopPlan& plan, Time now,
                                               std::optional<Duration> deadline);

}  // namespace agentify
