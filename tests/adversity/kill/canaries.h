// Canaries: errors that a kill point must find. There are four kinds: a bad program in the place of
// the upgrader, an agent that stays when it must exit, a step that does not exist, and a signal
// that is not sent.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

struct Canary {
  std::string seeded;
  bool quick;  // true if the error is found without waiting for a time limit
  // Runs the canary. Returns "" if the error was found, otherwise the reason why it was not found.
  std::function<std::string()> missed;
};

std::vector<Canary> canaries(const Cast& cast);

}  // namespace kill_points
