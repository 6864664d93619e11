// Canaries, which prove that a kill point can fail. Each has one error: a stand-in for the
// upgrader, an agent that stays when it must exit, a step that does not exist, or a signal that is
// not sent.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

struct Canary {
  std::string seeded;
  bool quick;  // true if the error is found without waiting for a time limit
  // Returns the reason why the error was not found, or "" if it was found.
  std::function<std::string()> missed;
};

std::vector<Canary> canaries(const Cast& cast);

}  // namespace kill_points
