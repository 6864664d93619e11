#include "fleet/model/rollout_draft.h"

#include <algorithm>
#include <cstddef>

#include "fleet/model/desired_driver.h"
#include "fleet/model/ids.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_brief.h"
#include "fleet/model/record_rules.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_decision.h"

namespace fleet {
namespace {

using Ids = std::vector<std::string>;

Refusal refuse(std::string reason) {
  return Refusal{std::move(reason)};
}

std::optional<std::string> wrong_terms(const RolloutTerms& terms) {
  if (!is_component(terms.component)) return "\"" + terms.component + "\" is no component";
  if (!is_version_name(terms.version)) return "\"" + terms.version + "\" is no version";
  if (terms.batch_percent < 0 || terms.batch_percent > 100) return "a batch has 1% to 100%";
  if (terms.batch_percent == 0 && (terms.batch < 1 || terms.batch > batch_nodes_max)) {
    return "a batch has 1 to " + std::to_string(batch_nodes_max) + " nodes";
  }
  if (terms.canary < 0 || terms.canary > batch_nodes_max) {
    return "canaries are 0 to " + std::to_string(batch_nodes_max) + " nodes";
  }
  if (terms.max_failed < 1) return "max-failed is at least 1: the failure that aborts";
  if (terms.soak_ms < 0 || terms.pause_ms < 0) return "times are not negative";
  if (terms.pause_ms > record_ms_max) return "a pause is at most a year";
  if (terms.confirm_ms != 0 && terms.confirm_ms < terms.soak_ms + confirm_beyond_soak_ms) {
    return "confirm is at least the soak and 60 s, so that a confirmation can arrive";
  }
  if (confirm_ms(terms) > confirm_ms_max) return "confirm is at most 24 h";
  return std::nullopt;
}

// `a (protocol 1 < 2), b (protocol 0 < 2)`, the first of them and how many more, or nothing.
std::string too_old(const std::vector<RolloutCandidate>& candidates, const Ids& nodes,
                    std::int64_t wanted) {
  std::vector<std::string> old;
  for (const RolloutCandidate& candidate : candidates) {
    if (candidate.node.info.protocol >= wanted) continue;
    if (!std::binary_search(nodes.begin(), nodes.end(), candidate.node.id)) continue;
    old.push_back(candidate.node.id + " (protocol " + std::to_string(candidate.node.info.protocol) +
                  " < " + std::to_string(wanted) + ")");
  }
  return listed(old);
}

std::vector<Ids> batches_of(const Ids& nodes, const RolloutTerms& terms) {
  const auto all = static_cast<std::int64_t>(nodes.size());
  // At least one, at most what one record takes.
  const std::int64_t size =
      terms.batch_percent == 0
          ? terms.batch
          : std::clamp<std::int64_t>(all * terms.batch_percent / 100, 1, batch_nodes_max);
  std::vector<Ids> batches;
  for (std::int64_t begin = 0; begin < all;) {
    const std::int64_t wanted = begin == 0 && terms.canary > 0 ? terms.canary : size;
    const std::int64_t end = std::min(all, begin + wanted);
    batches.emplace_back(nodes.begin() + begin, nodes.begin() + end);
    begin = end;
  }
  return batches;
}

Put put_rollout(std::string_view id, const Rollout& rollout) {
  return {.key = key_of(KeyKind::rollout, {id}), .value = write_record(rollout)};
}

}  // namespace

bool is_rollout_id(std::string_view text) {
  return is_id(text) && text.size() <= rollout_id_bytes_max && text != desired_id;
}

std::int64_t confirm_ms(const RolloutTerms& terms) {
  return terms.confirm_ms != 0 ? terms.confirm_ms : std::max(3 * terms.soak_ms, confirm_ms_min);
}

std::vector<RolloutCandidate> candidates_in(const std::vector<NodeView>& nodes,
                                            const std::string& component) {
  const auto targets = target_nodes(nodes);
  std::vector<RolloutCandidate> candidates;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].versions.running.contains(component)) continue;
    candidates.push_back({targets[i], nodes[i].degraded()});
  }
  return candidates;
}

Result<RolloutDraft> draft_rollout(const RolloutTerms& terms,
                                   const std::vector<RolloutCandidate>& candidates) {
  if (auto wrong = wrong_terms(terms)) return refuse(*wrong);
  const auto target = parse_target(terms.target);
  if (!target) return refuse("target: " + target.reason());
  std::vector<TargetNode> nodes;
  Ids degraded;
  for (const RolloutCandidate& candidate : candidates) {
    nodes.push_back(candidate.node);
    if (!candidate.degraded.empty()) degraded.push_back(candidate.node.id);
  }
  std::sort(degraded.begin(), degraded.end());
  const auto selection = select_nodes(target.value(), nodes);
  if (!selection) return refuse("target: " + selection.reason());

  RolloutDraft draft{.not_covered = selection.value().not_covered};
  Ids eligible;
  for (const std::string& id : selection.value().nodes) {
    const bool out = std::binary_search(degraded.begin(), degraded.end(), id);
    (out ? draft.excluded : eligible).push_back(id);
  }
  if (eligible.empty() && !draft.excluded.empty()) {
    return refuse("no eligible nodes (" + std::to_string(draft.excluded.size()) +
                  " degraded excluded)");
  }
  if (eligible.empty()) return refuse("no nodes: the target means none that reports");
  const std::string old = too_old(candidates, eligible, terms.min_protocol);
  if (!old.empty()) return refuse(old);
  draft.batches = batches_of(eligible, terms);
  for (const Ids& batch : draft.batches) {
    if (write_record(RolloutBatch{batch}).size() > value_bytes_max) {
      return refuse("a batch of " + std::to_string(batch.size()) +
                    " nodes with such long names is longer than a record");
    }
  }
  return draft;
}

std::optional<Transaction> next_creation(std::string_view id, const Rollout& wanted,
                                         const RolloutDraft& draft, Revision release,
                                         const std::optional<WrittenRollout>& written) {
  const std::string key = key_of(KeyKind::rollout, {id});
  Rollout rollout = written ? written->record : wanted;
  Transaction transaction{.compares = {{.key = key, .revision = written ? written->revision : 0}}};
  if (!written) {
    transaction.compares.push_back(
        {.key = key_of(KeyKind::release, {wanted.terms.component, wanted.terms.version}),
         .revision = release});
    transaction.compares.push_back({.key = key_of(KeyKind::plan, {id})});  // would share its driver
    rollout.state = RolloutState::created;
    rollout.batch = 0;
    rollout.batches = static_cast<std::int64_t>(draft.batches.size());
    rollout.excluded = draft.excluded;
    rollout.not_covered = draft.not_covered;
    keep_some(rollout.excluded, rollout.excluded_count);
    keep_some(rollout.not_covered, rollout.not_covered_count);
    transaction.puts.push_back(put_rollout(id, rollout));
    return transaction;
  }
  if (rollout.state != RolloutState::created) return std::nullopt;
  if (rollout.batch == rollout.batches) {
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    rollout.state = RolloutState::rolling;
    rollout.batch = 0;
    transaction.puts.push_back(put_rollout(id, rollout));
    return transaction;
  }
  // One more of the largest batches and the rollout's own record must still fit.
  constexpr std::size_t enough = transaction_bytes_max - 3 * value_bytes_max;
  std::size_t bytes = 0;
  while (rollout.batch < rollout.batches && bytes < enough &&
         transaction.puts.size() + 1 < operations_max) {
    const auto number = static_cast<std::uint64_t>(rollout.batch++);
    transaction.puts.push_back({.key = key_of(KeyKind::rollout_batch, {id}, number),
                                .value = write_record(RolloutBatch{draft.batches[number]})});
    bytes += transaction.puts.back().value.size();
  }
  transaction.puts.push_back(put_rollout(id, rollout));
  return transaction;
}

}  // namespace fleet
