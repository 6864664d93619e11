// Decides when a rollout's driver asks the gates, and what their answers mean for the batch. Pure:
// gate_answer.h says what one answer means.
//
// A round asks all gates of the rollout at once. The first round begins when all nodes of a batch
// have soaked, and another one follows after a while for as long as the batch is not confirmed. A
// batch is confirmed by one round in which all gates say well, and not by an old round. One gate
// that says worse aborts the rollout. If a controller does not bring the answers in time, nothing
// is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"

namespace fleet {

// The time from the beginning of one round to the next.
inline constexpr Ms gate_again_ms = 10'000;
// The longest time that a gate has to answer; then its question is broken off.
inline constexpr Ms gate_answer_ms = 10'000;
// After this time without answers a round is over: its questions should have been broken off long
// before.
inline constexpr Ms gate_round_ms = 30'000;

// The round under way, or the last one. It is not in the store: another driver asks anew.
struct GateRound {
  std::int64_t number = 0;
  std::int64_t turn = 0;  // the batch for which it was asked
  Ms asked_at = 0;
  bool is_answered = false;
  std::vector<GateStand> stands = {};
  std::vector<GateStand> before = {};  // the answers of the round before, for the same batch

  bool operator==(const GateRound&) const = default;
};

struct GatesNow {
  std::string worse = {};       // which gate says worse, and why
  std::string not_known = {};   // why nothing is known yet; empty if all gates say well
  bool is_to_ask = false;       // a round begins now
  std::optional<Ms> next = {};  // when the next round begins, or this one is over
  std::vector<GateStand> stands = {};
};

// Returns how the gates of these names stand. `round` is the last round of this driver, if any.
[[nodiscard]] GatesNow gates_now(const std::vector<std::string>& gates,
                                 const std::optional<GateRound>& round, std::int64_t turn, Ms now);

// Returns whether another gate, or another answer than `before`, is in `now`. Words alone, with
// their numbers, are no news.
[[nodiscard]] bool is_gate_news(const std::vector<GateStand>& before,
                                const std::vector<GateStand>& now);

}  // namespace fleet
