// Errors that are seeded to prove that the kill points can fail: a stand-in for the upgrader, an
// agent that stays, a step that there is none, a signal that is kept back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

struct Canary {
  std::string seeded;
  bool quick;                           // it is caught without waiting in vain
  std::function<std::string()> missed;  // why it was not caught, or ""
};

std::vector<Canary> canaries(const Cast& cast);

}  // namespace kill_points
