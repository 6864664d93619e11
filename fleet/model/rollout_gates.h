// Decides when a rollout's driver asks the gates, and what their answers mean for the batch.
// gate_answer.h decides what a single answer means. Pure.
//
// A gate is a measurement outside the fleet, such as a query to Prometheus, that can stop a
// rollout. A round asks all gates of the rollout at once. The first round begins when all nodes of
// a batch have soaked. Further rounds follow until the batch is confirmed. For that, all gates must
// say well in one round that is not too old. If one gate says worse, the rollout is aborted. If no
// answers come in time, the gates' verdict is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"

namespace fleet {

// The time from the beginning of one round of questions to the beginning of the next.
inline constexpr Ms gate_again_ms = 10'000;
// The time limit for the answer of a gate. After this time, its question is cancelled.
inline constexpr Ms gate_answer_ms = 10'000;
// If no answers have come within this time, the round is over. The time is longer than the limit
// for the answer of one gate.
inline constexpr Ms gate_round_ms = 30'000;

// The last round of questions. The round is not in the store, so another driver asks anew.
struct GateRound {
  std::int64_t number = 0;
  std::int64_t turn = 0;  // the number of the batch that is asked about: turn_of()
  Ms asked_at = 0;
  bool is_answered = false;
  std::vector<GateStand> stands = {};
  // The answers of the previous round, if it was for the same batch.
  std::vector<GateStand> before = {};

  bool operator==(const GateRound&) const = default;
};

struct GatesNow {
  std::string worse = {};       // which gates say worse, and why
  std::string not_known = {};   // why there is no verdict yet; empty if all gates say well
  bool is_to_ask = false;       // a round has to begin now
  std::optional<Ms> next = {};  // when the next round begins, or the present round is over
  std::vector<GateStand> stands = {};
};

// Returns the state of these gates. `round` is the last round of questions that this driver has
// begun, or no value if it has begun none. `turn` is the number of the present batch: see
// turn_of().
[[nodiscard]] GatesNow gates_now(const std::vector<std::string>& gates,
                                 const std::optional<GateRound>& round, std::int64_t turn, Ms now);

// Returns whether `now` has another gate than `before`, or another verdict of a gate. A change of
// the reasons alone does not count.
[[nodiscard]] bool is_gate_news(const std::vector<GateStand>& before,
                                const std::vector<GateStand>& now);

}  // namespace fleet
