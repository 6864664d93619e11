#include "fleet/model/rollouts/rollout_terms.h"

#include <algorithm>

#include "fleet/model/agent/health_watch.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/judge_verdict.h"

namespace fleet {
namespace {

// Without --max-failed, --batch and --canary, a rollout is aborted when at least `failures_min`
// nodes have failed, and at least one in `begun_for_a_failure` of the nodes that have begun. Fewer
// failures may be accidents.
constexpr std::int64_t failures_min = 3;
constexpr std::int64_t begun_for_a_failure = 100;

std::optional<std::string> wrong_sizes(const RolloutTerms& terms) {
  if (!terms.batches.empty()) {
    const auto sizes = parse_batches(terms.batches);
    if (!sizes) return "batches: " + sizes.reason();
    return std::nullopt;
  }
  if (terms.batch_percent < 0 || terms.batch_percent > 100) return "a batch has 1% to 100%";
  if (terms.batch_percent == 0 && (terms.batch < 1 || terms.batch > batch_nodes_max)) {
    return "a batch has 1 to " + std::to_string(batch_nodes_max) + " nodes";
  }
  if (terms.canary < 0 || terms.canary > batch_nodes_max) {
    return "canaries are 0 to " + std::to_string(batch_nodes_max) + " nodes";
  }
  return std::nullopt;
}

std::optional<std::string> wrong_order(const RolloutTerms& terms) {
  if (terms.order == NodeOrder::unknown) return "the order of nodes is random or name";
  if (terms.order == NodeOrder::random && terms.seed.empty()) return "a random order has a seed";
  if (terms.seed.size() > seed_bytes_max) {
    return "a seed has at most " + std::to_string(seed_bytes_max) + " bytes";
  }
  if (terms.apart.size() > aparts_max) {
    return "at most " + std::to_string(aparts_max) + " labels are kept apart";
  }
  for (const std::string& text : terms.apart) {
    const auto apart = parse_apart(text);
    if (!apart) return "apart: " + apart.reason();
  }
  return std::nullopt;
}

std::optional<std::string> wrong_gates(const std::vector<std::string>& gates) {
  if (gates.size() > gates_max) return "at most " + std::to_string(gates_max) + " gates are asked";
  for (auto gate = gates.begin(); gate != gates.end(); ++gate) {
    if (!is_id(*gate)) return "gate \"" + *gate + "\" is no name of a gate";
    if (std::find(gates.begin(), gate, *gate) != gate) return "gate " + *gate + " is named twice";
  }
  return std::nullopt;
}

// Returns whether a batch waits for verdicts even if the rollout has too few nodes for a comparison
// by the judge.
bool waits_for_verdict(const RolloutTerms& terms) {
  return !terms.gates.empty() || terms.judge_timeout_ms != 0;
}

// Returns the number of nodes in the largest batch that these terms can make.
std::size_t nodes_of_largest(const RolloutTerms& terms, std::size_t nodes) {
  std::int64_t most = 1;
  if (const auto sizes = parse_batches(terms.batches)) {
    for (const Share& share : sizes.value())
      most = std::max(most, share.of(static_cast<std::int64_t>(nodes)));
    return std::min(nodes, static_cast<std::size_t>(most));
  }
  return std::min(nodes, static_cast<std::size_t>(batch_nodes_max));
}

}  // namespace

RolloutTerms open_terms() {
  return {.batch = unsaid,
          .soak_ms = unsaid,
          .max_failed = unsaid,
          .order = NodeOrder::unknown,
          .spread_ms = unsaid};
}

void settle(RolloutTerms& terms, std::size_t nodes, const std::string& seed) {
  const bool is_plain = terms.batch != unsaid || terms.batch_percent != 0 || terms.canary != 0;
  if (terms.batches.empty() && !is_plain) terms.batches = batches_default;
  if (terms.batch == unsaid) terms.batch = 1;
  if (terms.order == NodeOrder::unknown) terms.order = NodeOrder::random;
  if (terms.order == NodeOrder::random && terms.seed.empty()) terms.seed = seed;
  if (terms.soak_ms == unsaid) terms.soak_ms = nodes > few_nodes ? soak_of_many_ms : soak_of_few_ms;
  if (terms.max_failed == unsaid) {
    terms.max_failed_unsaid = !terms.batches.empty();
    // If `max_failed_unsaid` is true, `max_failed` matters only to controllers of older versions:
    // they abort the rollout when `max_failed` nodes have failed.
    terms.max_failed = terms.max_failed_unsaid ? failures_min : 1;
  }
  if (terms.confirm_ms != 0) return;
  // The first node of a batch waits for `confirm` while the other nodes begin, soak and are judged.
  // If `confirm_ms` were shorter than this, the first node would go back by itself.
  const std::int64_t spread = spread_ms(terms, nodes_of_largest(terms, nodes));
  const bool is_judged =
      waits_for_verdict(terms) || control_size(static_cast<std::int64_t>(nodes)) > 0;
  if (spread == 0 && !is_judged) return;
  const std::int64_t least =
      spread + terms.soak_ms + judge_timeout_ms(terms) + confirm_beyond_soak_ms;
  if (least > confirm_ms(terms)) terms.confirm_ms = std::min(least, confirm_ms_max);
}

std::optional<std::string> wrong_terms(const RolloutTerms& terms) {
  if (!is_component(terms.component)) return "\"" + terms.component + "\" is no component";
  if (!is_version_name(terms.version)) return "\"" + terms.version + "\" is no version";
  if (auto wrong = wrong_sizes(terms)) return wrong;
  if (auto wrong = wrong_order(terms)) return wrong;
  if (auto wrong = wrong_gates(terms.gates)) return wrong;
  if (auto wrong = wrong_judging(terms)) return wrong;
  if (terms.max_failed < 1) return "max-failed is at least 1: the failure that aborts";
  if (terms.soak_ms < 0 || terms.pause_ms < 0) return "times are not negative";
  if (terms.spread_ms < unsaid) return "times are not negative";
  if (terms.undo && terms.no_undo) return "the release says that nothing can take it back";
  if (terms.pause_ms > record_ms_max) return "a pause is at most a year";
  if (terms.bake_ms < 0) return "times are not negative";
  if (terms.bake_ms > bake_ms_max) return "a bake is at most 30 days";
  if (terms.confirm_ms != 0 && terms.confirm_ms < terms.soak_ms + confirm_beyond_soak_ms) {
    return "confirm is at least the soak and 60 s, so that a confirmation can arrive";
  }
  if (terms.judge_timeout_ms < 0) return "times are not negative";
  if (auto wrong = wrong_confirm(terms, 0)) return wrong;
  if (confirm_ms(terms) > confirm_ms_max) return "confirm is at most 24 h";
  return std::nullopt;
}

std::optional<std::string> wrong_confirm(const RolloutTerms& terms, std::size_t nodes) {
  const std::int64_t spread = spread_ms(terms, nodes);
  const std::int64_t least = spread + terms.soak_ms + confirm_beyond_soak_ms;
  if (spread > 0 && confirm_ms(terms) < least) {
    return "confirm is at least the spread, the soak and 60 s: the last node of a batch soaks "
           "while the first waits";
  }
  if (waits_for_verdict(terms) && confirm_ms(terms) < least + judge_timeout_ms(terms)) {
    return "confirm is at least the spread, the soak, the judge-timeout and 60 s: the first node "
           "waits while the batch is judged";
  }
  return std::nullopt;
}

std::optional<std::string> wrong_judging(const RolloutTerms& terms) {
  if (static_cast<double>(terms.alpha_millionths) <= bake_alpha * million ||
      terms.alpha_millionths > alpha_max) {
    return "alpha must be above 0.001, which a bake takes from it, and at most 0.5: beyond that, "
           "chance could stop most good versions";
  }
  if (terms.tolerate_millionths < tolerate_min || terms.tolerate_millionths > tolerate_max) {
    return "tolerate must be 1 to 100: below 1, versions as good as the one before would be "
           "stopped";
  }
  return std::nullopt;
}

std::optional<std::int64_t> millionths_in(std::string_view text) {
  const auto number = measured_number(text);
  if (!number || *number < 0 || *number > million) return std::nullopt;
  return static_cast<std::int64_t>(*number * million + 0.5);
}

std::string judging_words(const RolloutTerms& terms, std::int64_t nodes) {
  const bool is_default =
      terms.alpha_millionths == alpha_default && terms.tolerate_millionths == tolerate_default;
  if (is_default) return "";
  std::string words = "the judge stops a good version with a chance of at most " +
                      measured_text(static_cast<double>(terms.alpha_millionths) / million) +
                      ", and tolerates " +
                      measured_text(static_cast<double>(terms.tolerate_millionths) / million) +
                      " times the failures of the control";
  if (control_size(nodes) == 0) {
    words +=
        "; no effect: fewer than " + std::to_string(judge_nodes_min) + " nodes are not compared";
  } else if (terms.order != NodeOrder::random) {
    words += "; no effect: in the order of names the judge aborts nothing";
  }
  return words;
}

std::int64_t confirm_ms(const RolloutTerms& terms) {
  return terms.confirm_ms != 0 ? terms.confirm_ms : std::max(3 * terms.soak_ms, confirm_ms_min);
}

std::int64_t judge_timeout_ms(const RolloutTerms& terms) {
  return terms.judge_timeout_ms != 0 ? terms.judge_timeout_ms
                                     : std::max(terms.soak_ms, judge_timeout_ms_min);
}

std::int64_t failures_to_abort(const RolloutTerms& terms, std::int64_t begun) {
  if (!terms.max_failed_unsaid) return terms.max_failed;
  const std::int64_t share = (begun + begun_for_a_failure - 1) / begun_for_a_failure;
  return std::max(failures_min, share);
}

std::int64_t least_ms(const RolloutTerms& terms,
                      const std::vector<std::vector<std::string>>& batches) {
  std::int64_t sum = 0;
  for (const auto& batch : batches)
    // The nodes of a batch begin a step one after the other, over the time spread_ms(). This time
    // passes twice: for the step `prepare` and for the step `apply`.
    sum += 2 * spread_ms(terms, batch.size()) + terms.soak_ms + terms.pause_ms;
  return batches.empty() ? 0 : sum - terms.pause_ms;
}

}  // namespace fleet
