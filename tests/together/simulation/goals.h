// The moves of the exploration's map to which guided runs are led, one for each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/together/simulation/atlas.h"

namespace upgrader::simulation {

// Of this number of consecutive seeds, one runs by chance alone. The others are led to a goal by a
// guide, if the map of the exploration is there.
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
  // The agent whose last words come before the move, if any.
  test::Speaker dying = test::Speaker::nobody;
};

// Returns whether the event is a message among an agent's last words.
[[nodiscard]] bool is_last_word(test::EventClass event);

// Returns whether the event is a message that a puppet can send together with many others.
[[nodiscard]] bool is_speech(test::EventClass event);
// Returns whether an agent closes one of its pipes.
[[nodiscard]] bool closes(test::EventClass event);

// Returns whether a guide makes this move without being led to it, so that the move need not be a
// goal. Such a move changes nothing, and the guide makes it when it is at its place for another
// reason.
[[nodiscard]] bool comes_by_the_way(const test::Move& move);

// The goals: all moves, of all policies, that the shell allows and that a guide does not make in
// passing. Two consecutive seeds have goals that lie far apart in this list.
class Goals {
 public:
  explicit Goals(const Atlas& atlas);
  [[nodiscard]] Goal goal(std::uint64_t seed) const;
  [[nodiscard]] std::size_t count() const { return goals_.size(); }

 private:
  std::vector<Goal> goals_;
};

}  // namespace upgrader::simulation
