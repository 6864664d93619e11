// What a person leaves open of a rollout's terms, and what it then is. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"

namespace fleet {

// A node goes back by itself when it has waited so long for `confirm`: three soaks, and no less.
inline constexpr std::int64_t confirm_ms_min = 300'000;
// What --confirm may be: at least the spread, the soak and this,
inline constexpr std::int64_t confirm_beyond_soak_ms = 60'000;
// and at most a day.
inline constexpr std::int64_t confirm_ms_max = 86'400'000;

// The soak where nobody says one: of a few nodes somebody watches, of many the clock must.
inline constexpr std::size_t few_nodes = 100;
inline constexpr std::int64_t soak_of_few_ms = 60'000;
inline constexpr std::int64_t soak_of_many_ms = 70 * 60'000;

// What stands in terms for a number that nobody has said.
inline constexpr std::int64_t unsaid = -1;

// Terms of which nothing is said yet: batches, order, soak, max-failed and spread are open. Terms
// that were read from the store, or that stand in code, are never open.
[[nodiscard]] RolloutTerms open_terms();

// Fills in what is open, for so many nodes; `seed` is of the order, where none was said. What was
// said stays, and terms that are settled stay as they are.
void settle(RolloutTerms& terms, std::size_t nodes, const std::string& seed);

// Why these settled terms cannot be; none: they can.
[[nodiscard]] std::optional<std::string> wrong_terms(const RolloutTerms& terms);

// How long a node waits for `confirm`, on its own clock, from the activation of the new version.
[[nodiscard]] std::int64_t confirm_ms(const RolloutTerms& terms);

// The failure that aborts a rollout of which so many nodes have begun.
[[nodiscard]] std::int64_t failures_allowed(const RolloutTerms& terms, std::int64_t begun);

// How long batches of these sizes take, if every node does everything at once.
[[nodiscard]] std::int64_t least_ms(const RolloutTerms& terms,
                                    const std::vector<std::vector<std::string>>& batches);

}  // namespace fleet
