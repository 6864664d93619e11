// The supervisor's settings from the command line, which never change.
#pragma once

#include "upgrader/core/options.h"
#include "upgrader/core/state.h"

namespace upgrader {

// `watchdog`: how far apart heartbeats may be, as init says; zero where none are wanted.
[[nodiscard]] Policy policy_of(const Options& options, Duration watchdog);

}  // namespace upgrader
