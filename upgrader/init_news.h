// What init is to know of a state, as plain data. Telling it is init_system's.
#pragma once

#include <string>

namespace upgrader {

struct State;

struct InitNews {
  bool active = false;  // an agent is
  bool stopping = false;
  std::string status;  // one line for people

  bool operator==(const InitNews&) const = default;
};

[[nodiscard]] InitNews init_news(const State& state);

}  // namespace upgrader
