// The values of those terms of a rollout that a person leaves open, and which terms are refused.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"

namespace fleet {

// Without --confirm a node goes back by itself when it has waited for `confirm` as long as three
// soaks, but no less than this.
inline constexpr std::int64_t confirm_ms_min = 300'000;
// --confirm is at least the spread, the soak and this,
inline constexpr std::int64_t confirm_beyond_soak_ms = 60'000;
// and at most a day.
inline constexpr std::int64_t confirm_ms_max = 86'400'000;

// The soak without --soak. Somebody watches a rollout to a few nodes; one to many nodes is left
// alone, and soaks for longer.
inline constexpr std::size_t few_nodes = 100;
inline constexpr std::int64_t soak_of_few_ms = 60'000;
inline constexpr std::int64_t soak_of_many_ms = 70 * 60'000;

// In terms, stands for a number that nobody has said.
inline constexpr std::int64_t unsaid = -1;

// Terms in which batches, order, soak, max-failed and spread are open. Terms that were read from
// the store, or that stand in code, have no open member.
[[nodiscard]] RolloutTerms open_terms();

// Fills in the members that are open, for a rollout to so many nodes; `seed` becomes the seed of a
// random order if none was said. Members that were said stay as they are.
void settle(RolloutTerms& terms, std::size_t nodes, const std::string& seed);

// Why these settled terms are refused; no value if they are not.
[[nodiscard]] std::optional<std::string> wrong_terms(const RolloutTerms& terms);

// How long a node waits for `confirm`, on its own clock, from the activation of the new version.
[[nodiscard]] std::int64_t confirm_ms(const RolloutTerms& terms);

// The failure that aborts a rollout of which so many nodes have begun.
[[nodiscard]] std::int64_t failures_allowed(const RolloutTerms& terms, std::int64_t begun);

// How long batches of these sizes take, if every node does everything at once.
[[nodiscard]] std::int64_t least_ms(const RolloutTerms& terms,
                                    const std::vector<std::vector<std::string>>& batches);

}  // namespace fleet
