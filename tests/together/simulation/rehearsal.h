// Whether a way of the map can be gone by the clock. The map knows no times, and any deadline may
// be the next there; in a run the limits decide which one is, and some ways need certain limits.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/puppet_words.h"
#include "tests/together/simulation/random.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::simulation {

// Where an event leads to from a place, if it asks for no outcome; nullopt: the map does not know.
[[nodiscard]] std::optional<std::uint32_t> destination(const Sheet& sheet, std::uint32_t place,
                                                       test::EventClass event);
// The deadline that such an event is about, if it is set.
[[nodiscard]] std::optional<Time> deadline_of(const State& state, test::EventClass event);
// True if such an event needs a deadline to pass, or to be reached.
[[nodiscard]] bool is_timed(test::EventClass event);

class Rehearsal {
 public:
  Rehearsal(const Sheet& sheet, const Policy& policy, const SaidTimes& said, Random& random);

  // Goes the way from the very start, with pauses by chance. False: some deadline on it does not
  // pass when its turn comes, or some event does not come about.
  [[nodiscard]] bool run(const std::deque<std::uint32_t>& way);

  // One before each move of the way that was gone last.
  [[nodiscard]] const std::vector<Duration>& pauses() const { return pauses_; }

 private:
  void pause(test::EventKind next_kind);
  bool make(const test::Move& move);
  bool let_pass(const test::Move& move);
  bool judge_passed(std::uint32_t place);
  [[nodiscard]] std::optional<Event> event_for(test::EventClass event);
  [[nodiscard]] std::optional<Event> event_of(const Agent& agent, test::EventKind kind);

  const Sheet& sheet_;
  Supervisor supervisor_;
  const SaidTimes& said_;
  Random& random_;
  Time now_{0};
  std::vector<Duration> pauses_;
};

}  // namespace upgrader::simulation
