// Where guided runs are led to: one move of the exploration's map each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/together/simulation/atlas.h"

namespace upgrader::simulation {

// One of so many seeds goes as chance will have; a guide leads the others, if there is a map.
inline constexpr std::uint64_t unguided_every = 4;
[[nodiscard]] constexpr bool is_guided(std::uint64_t seed) {
  return seed % unguided_every != 0;
}
// Of the seeds from 1 to this one.
[[nodiscard]] constexpr std::uint64_t guided_up_to(std::uint64_t seed) {
  return seed - seed / unguided_every;
}

// A move that somebody is to be led to.
struct Goal {
  int policy = 0;
  std::uint32_t move = 0;
  test::Speaker dying = test::Speaker::nobody;  // whose last words come before it
};

// An agent's, said as its last.
[[nodiscard]] bool is_last_word(test::EventClass event);

// What puppets can do many of in one go.
[[nodiscard]] bool is_speech(test::EventClass event);
// One of an agent's pipes.
[[nodiscard]] bool closes(test::EventClass event);

// Changes nothing, and can be done with much else wherever a guide has come to.
[[nodiscard]] bool comes_by_the_way(const test::Move& move);

// All moves that lead from one state to another, or do nothing but cannot be done by the way; of
// all policies, in an order that is far apart.
class Goals {
 public:
  explicit Goals(const Atlas& atlas);
  [[nodiscard]] Goal goal(std::uint64_t seed) const;
  [[nodiscard]] std::size_t count() const { return goals_.size(); }

 private:
  std::vector<Goal> goals_;
};

}  // namespace upgrader::simulation
