// How long things may take, and what the command line says of it. Plain data.
#pragma once

#include <chrono>

namespace conformance {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::microseconds;  // since the check began

// Settings of the options. All but `watch` are deadlines of the agent: long, so that a loaded
// machine is no reason to complain.
struct Terms {
  Duration start_timeout{std::chrono::seconds{30}};  // from the start, or welcome, to ready
  Duration stop_timeout{std::chrono::seconds{30}};   // from stop to stopped
  Duration exit_grace{std::chrono::seconds{30}};     // from stopped, a signal or the end of input
                                                     // to the exit
  Duration watch{300};  // how long an agent is looked at that has nothing to say
  bool has_strace = false;
};

}  // namespace conformance
