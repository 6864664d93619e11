// The time limits of the checks, and the options that set them. Plain data.
#pragma once

#include <chrono>

namespace conformance {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::microseconds;  // the time since the beginning of the check

// The times that options set. All except `watch` are deadlines that the agent must meet. They are
// long, so that an agent on a loaded machine meets them, too.
struct Terms {
  // the longest time from the agent's start, or from its `welcome`, to `ready`
  Duration start_timeout{std::chrono::seconds{30}};
  Duration stop_timeout{std::chrono::seconds{30}};  // the longest time from `stop` to `stopped`
  // the longest time from the agent's `stopped`, a signal or the end of its input to its exit
  Duration exit_grace{std::chrono::seconds{30}};
  Duration watch{300};  // how long to watch an agent that should do nothing
  bool has_strace = false;
};

}  // namespace conformance
