// How a daemon is stopped: which signals, for how long each, and when SIGKILL. Values only: who
// sends the signals is keeper.h.
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
  std::optional<Duration> time = {};  // how long it may take; absent: as long as there is time

  bool operator==(const StopStep&) const = default;
};

struct StopPlan {
  std::vector<StopStep> steps;

  [[nodiscard]] bool names(int signal) const;
  bool operator==(const StopPlan&) const = default;
};

// `SIGNAL[:D[,SIGNAL:D ...]]`; only the last step may leave out its time. Or what is wrong with it.
[[nodiscard]] std::variant<StopPlan, std::string> parse_stop_plan(std::string_view text);

// SIGTERM, for as long as there is time.
[[nodiscard]] StopPlan default_stop_plan();

// The time of a stop for which nobody has set a deadline: the upgrader's own default.
inline constexpr Duration stop_time_default = std::chrono::seconds{90};

// Of the deadline so much is kept for the kill, the wait until everything has gone, and `stopped`:
// a fifth, and at most a second.
[[nodiscard]] Duration stop_margin(Duration deadline);

// A signal that falls due.
struct StopMoment {
  Time at{};
  int signal = 0;

  bool operator==(const StopMoment&) const = default;
};

// The plan in time, SIGKILL last: when its steps are over, or `deadline` less its margin, whichever
// comes first. The first signal is due at once.
[[nodiscard]] std::vector<StopMoment> schedule(const StopPlan& plan, Time now,
                                               std::optional<Duration> deadline);

}  // namespace agentify
