// Canaries, which prove that a kill point can fail. They have a stand-in for the upgrader, an agent
// that stays when it must exit, a step that does not exist, or a signal that is not sent.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

struct Canary {
  std::string seeded;
  bool quick;                           // the error is found without waiting for a time limit
  std::function<std::string()> missed;  // returns why the error was not found, or ""
};

std::vector<Canary> canaries(const Cast& cast);

}  // namespace kill_points
