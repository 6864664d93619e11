// Fills in those terms of a rollout that a person leaves open, and checks terms. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"

namespace fleet {

// The shortest time that a node waits for `confirm` without --confirm. Normally it goes back by
// itself after three soaks.
inline constexpr std::int64_t confirm_ms_min = 300'000;
// --confirm must be at least the spread, the soak and this time together.
inline constexpr std::int64_t confirm_beyond_soak_ms = 60'000;
// --confirm may be at most a day.
inline constexpr std::int64_t confirm_ms_max = 86'400'000;

// The soak without --soak. A person watches a rollout to few nodes; a rollout to many nodes runs
// unattended, and its nodes soak for longer.
inline constexpr std::size_t few_nodes = 100;
inline constexpr std::int64_t soak_of_few_ms = 60'000;
inline constexpr std::int64_t soak_of_many_ms = 70 * 60'000;

// The time that a batch waits for its judge and its gates without --judge-timeout, if its soak is
// not longer.
inline constexpr std::int64_t judge_timeout_ms_min = 300'000;

// The value of a number in the terms that nobody has given.
inline constexpr std::int64_t unsaid = -1;

// Returns terms in which batches, order, soak, max-failed and spread are open. Terms that were read
// from the store, or that are written in code, have no open member.
[[nodiscard]] RolloutTerms open_terms();

// Fills in the open members for a rollout to `nodes` nodes. `seed` becomes the seed of a random
// order if the terms have none. Members that a person has given stay as they are.
void settle(RolloutTerms& terms, std::size_t nodes, const std::string& seed);

// Returns why these settled terms are refused, or no value if they are not.
[[nodiscard]] std::optional<std::string> wrong_terms(const RolloutTerms& terms);

// Returns how long a node waits for `confirm`, on its own clock, from the activation of the new
// version.
[[nodiscard]] std::int64_t confirm_ms(const RolloutTerms& terms);

// Returns how long a batch whose nodes have soaked waits for its judge and its gates.
[[nodiscard]] std::int64_t judge_timeout_ms(const RolloutTerms& terms);

// Returns the number of failures that aborts a rollout in which `begun` nodes have begun.
[[nodiscard]] std::int64_t failures_allowed(const RolloutTerms& terms, std::int64_t begun);

// Returns how long batches of these sizes take at least, if every node does everything at once.
[[nodiscard]] std::int64_t least_ms(const RolloutTerms& terms,
                                    const std::vector<std::vector<std::string>>& batches);

}  // namespace fleet
