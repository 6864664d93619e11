// The scripted runs of the upgrader into which faults are injected, each with a name.
#pragma once

#include <vector>

#include "tests/adversity/fault/run.h"

namespace fault {

[[nodiscard]] const std::vector<Play>& plays();
[[nodiscard]] const Play& play_named(std::string_view name);  // throws if there is no such play

}  // namespace fault
