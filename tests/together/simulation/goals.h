// The moves of the exploration's map to which guided runs are led, one for each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/together/simulation/atlas.h"

namespace upgrader::simulation {

// One of this number of seeds runs by chance alone. If there is a map, a guide leads the others.
inline constexpr std::uint64_t unguided_every = 4;
[[nodiscard]] constexpr bool is_guided(std::uint64_t seed) {
  return seed % unguided_every != 0;
}
// Returns how many of the seeds from 1 to `seed` are guided.
[[nodiscard]] constexpr std::uint64_t guided_up_to(std::uint64_t seed) {
  return seed - seed / unguided_every;
}

// A move to which a run is led.
struct Goal {
  int policy = 0;
  std::uint32_t move = 0;
  test::Speaker dying = test::Speaker::nobody;  // the agent whose last words come before the move
};

// Returns whether the event is a message among an agent's last words.
[[nodiscard]] bool is_last_word(test::EventClass event);

// Returns whether the event is a message that a puppet can send together with many others.
[[nodiscard]] bool is_speech(test::EventClass event);
// Returns whether an agent closes one of its pipes.
[[nodiscard]] bool closes(test::EventClass event);

// Returns whether the move changes nothing, and a guide can make it in passing, together with other
// such moves, at any place that it reaches.
[[nodiscard]] bool comes_by_the_way(const test::Move& move);

// All moves, of all policies, except those that a guide makes in passing. Neighbours in the list
// lie far apart on the map.
class Goals {
 public:
  explicit Goals(const Atlas& atlas);
  [[nodiscard]] Goal goal(std::uint64_t seed) const;
  [[nodiscard]] std::size_t count() const { return goals_.size(); }

 private:
  std::vector<Goal> goals_;
};

}  // namespace upgrader::simulation
