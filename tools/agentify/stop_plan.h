// The plan for stopping a daemon: which signals, for how long each, and when SIGKILL. Values only:
// keeper.h sends the signals.
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
  std::optional<Duration> time = {};  // how long the step may take; if absent, until the deadline

  bool operator==(const StopStep&) const = default;
};

struct StopPlan {
  std::vector<StopStep> steps;

  [[nodiscard]] bool names(int signal) const;
  bool operator==(const StopPlan&) const = default;
};

// Parses `SIGNAL[:D[,SIGNAL:D ...]]`, in which only the last step may have no time. Returns the
// fault in words if the plan is not valid.
[[nodiscard]] std::variant<StopPlan, std::string> parse_stop_plan(std::string_view text);

// Returns the plan that sends SIGTERM and waits until the deadline.
[[nodiscard]] StopPlan default_stop_plan();

// The time for a stop without a deadline: the default of the upgrader's --stop-timeout.
inline constexpr Duration stop_time_default = std::chrono::seconds{90};

// Returns the part of the deadline that is kept free for SIGKILL, the wait until all processes have
// ended, and the message `stopped`: a fifth of it, and at most a second.
[[nodiscard]] Duration stop_margin(Duration deadline);

// A signal of a plan, and the time at which it must be sent.
struct StopMoment {
  Time at{};
  int signal = 0;

  bool operator==(const StopMoment&) const = default;
};

// Returns the times of all signals of the plan, the first one being now. SIGKILL is last: when the
// steps are over, or at the `deadline` less stop_margin(), whichever comes first.
[[nodiscard]] std::vector<StopMoment> schedule(const StopPlan& plan, Time now,
                                               std::optional<Duration> deadline);

}  // namespace agentify
