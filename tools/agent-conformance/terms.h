// The time limits of the checks, and the options that set them. Plain data.
#pragma once

#include <chrono>

namespace conformance {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::microseconds;  // the time since the beginning of the check

// The times that can be set by options. Except for `watch`, they are deadlines for the agent. The
// defaults are long, so that an agent on a loaded machine meets them.
struct Terms {
  // the longest time until the agent says `ready`, from its start or from the `welcome`
  Duration start_timeout{std::chrono::seconds{30}};
  Duration stop_timeout{std::chrono::seconds{30}};  // the longest time from `stop` to `stopped`
  // the longest time until the agent exits, after its `stopped`, a signal or the end of its input
  Duration exit_grace{std::chrono::seconds{30}};
  Duration watch{300};  // how long to watch that an agent does nothing
  bool has_strace = false;
};

}  // namespace conformance
