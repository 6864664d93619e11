// A rehearsal finds out whether a run of the simulation can follow a given path on the map
// (atlas.h) of the supervisor's states. The map has no times, so on the map any deadline that is
// set may pass next. In a run, the time limits in the options decide which deadline passes first.
// So a run can follow some paths only with suitable time limits.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "tests/decisions/explore/canonical.h"
#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/random.h"
#include "upgrader/core/state.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::simulation {

// ---- the message that a puppet must send to make an event of a given kind happen

// The time limits and durations that agents write into their messages in a guided run.
struct SaidTimes {
  std::int64_t confirm_timeout_ms = 5'000;  // the time limit in a request that sets confirm_timeout
  std::int64_t extend_ms = 86'400'000;
};

// Returns the message with which an agent causes an event of this kind. Returns nullopt if no
// message causes such an event.
[[nodiscard]] std::optional<agent_protocol::AgentMessage> message_for(test::EventKind kind,
                                                                      const Agent& agent,
                                                                      const State& state,
                                                                      const SaidTimes& said);

// Searches the map for the move that begins at `place` and consists of this event alone, without
// the outcome of an action. Returns the place to which this move leads, or nullopt if the map has
// no such move.
[[nodiscard]] std::optional<std::uint32_t> destination(const Sheet& sheet, std::uint32_t place,
                                                       test::EventClass event);
// Returns the deadline whose passing causes this event. Returns nullopt if this deadline is not
// set.
[[nodiscard]] std::optional<Time> deadline_of(const State& state, test::EventClass event);
// Returns true if the event can come only when a deadline has passed, or is near.
[[nodiscard]] bool is_timed(test::EventClass event);

class Rehearsal {
 public:
  Rehearsal(const Sheet& sheet, const Policy& policy, const SaidTimes& said, Random& random);

  // Tries the moves of `way` one after the other, with a supervisor in its first state and with
  // random pauses between them. `way` has the indices of the moves in the map's list. Returns false
  // if a move cannot be made, because its event cannot happen, or because its deadline does not
  // pass at the right time.
  [[nodiscard]] bool run(const std::deque<std::uint32_t>& way);

  // Returns the pauses of the last run(), one before each move.
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
