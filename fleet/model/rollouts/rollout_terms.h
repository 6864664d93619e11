// This file checks the terms (options) of a rollout, and fills in the terms that a person has left
// open. It does no input or output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/rollout_records.h"

namespace fleet {

// --confirm is the time for which a node waits for the command `confirm` before it goes back by
// itself. The default is three times the soak, but at least this time.
inline constexpr std::int64_t confirm_ms_min = 300'000;
// --confirm must be at least this much longer than the soak and --spread together. If a gate or
// --judge-timeout is given, --confirm must also include the time in which the batch is judged.
inline constexpr std::int64_t confirm_beyond_soak_ms = 60'000;
// --confirm may be at most a day.
inline constexpr std::int64_t confirm_ms_max = 86'400'000;

// The soak is the time that the new version must work on a node before it is confirmed there. In a
// rollout to at most few_nodes nodes, the default soak is short, since a person usually watches the
// rollout. In a rollout to more nodes, which runs unattended, the default soak is long.
inline constexpr std::size_t few_nodes = 100;
inline constexpr std::int64_t soak_of_few_ms = 60'000;
inline constexpr std::int64_t soak_of_many_ms = 70 * 60'000;

// --judge-timeout is the time for which a batch waits for its judge and its gates. The default is
// the length of the soak, but at least this time.
inline constexpr std::int64_t judge_timeout_ms_min = 300'000;

// --bake may be at most 30 days. The bake is the time after the last batch in which a rollout is
// still judged.
inline constexpr std::int64_t bake_ms_max = 30 * 86'400'000LL;

// The largest --alpha, in millionths. If --alpha were more than one half, the judge could stop most
// good versions. --alpha must also be larger than bake_alpha (judge_evidence.h), the part of
// --alpha that is kept for the bake.
inline constexpr std::int64_t alpha_max = 500'000;
// A --tolerate below 1 would make the judge stop versions that are as good as the old version.
inline constexpr std::int64_t tolerate_min = tolerate_default;
inline constexpr std::int64_t tolerate_max = 100'000'000;

// In the terms of a rollout, this value stands for a number that the person has left open.
inline constexpr std::int64_t unsaid = -1;

// Returns terms in which the batches, the order of the nodes, the soak, --max-failed and the spread
// are open. If a person does not choose their values, settle() fills them in. Only the spread stays
// open: spread_ms() computes it for each batch.
[[nodiscard]] RolloutTerms open_terms();

// Fills in the terms that a person has left open, except the spread, for a rollout to `nodes`
// nodes. `seed` is used for a random order if the terms have no seed.
void settle(RolloutTerms& terms, std::size_t nodes, const std::string& seed);

// Returns why these terms are refused, or no value if they are good. All terms except the spread
// must have values: call settle() first.
[[nodiscard]] std::optional<std::string> wrong_terms(const RolloutTerms& terms);

// Returns why --confirm is too short for a batch of `nodes` nodes, or no value if it is long
// enough. The first node of the batch has to wait for the command `confirm` until the last node has
// soaked and is judged, and --confirm must be longer than this wait. `nodes` matters only if the
// person has not given --spread.
[[nodiscard]] std::optional<std::string> wrong_confirm(const RolloutTerms& terms,
                                                       std::size_t nodes);

// Returns why --alpha or --tolerate is refused, or no value if both are good.
[[nodiscard]] std::optional<std::string> wrong_judging(const RolloutTerms& terms);

// Parses a decimal number such as `0.05`, and returns it in millionths, rounded. Returns no value
// if the text is not a number from 0 to 1,000,000.
[[nodiscard]] std::optional<std::int64_t> millionths_in(std::string_view text);

// Returns a message with the values of --alpha and --tolerate. The message also says whether they
// have no effect in a rollout to `nodes` nodes. Returns an empty string if both have their
// defaults.
[[nodiscard]] std::string judging_words(const RolloutTerms& terms, std::int64_t nodes);

// Returns how long a node waits for the command `confirm` before it goes back. The node measures
// this time from the activation of the new version.
[[nodiscard]] std::int64_t confirm_ms(const RolloutTerms& terms);

// Returns how long a batch waits for its judge and its gates after its nodes have soaked.
[[nodiscard]] std::int64_t judge_timeout_ms(const RolloutTerms& terms);

// Returns the number of failed nodes at which the rollout is aborted, if `begun` nodes have begun.
[[nodiscard]] std::int64_t failures_to_abort(const RolloutTerms& terms, std::int64_t begun);

// Returns the shortest time that a rollout with these batches can take.
[[nodiscard]] std::int64_t least_ms(const RolloutTerms& terms,
                                    const std::vector<std::vector<std::string>>& batches);

}  // namespace fleet
