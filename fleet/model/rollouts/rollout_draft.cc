#include "fleet/model/rollouts/rollout_draft.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fleet/model/history/retention.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/rollouts/rollout_decision.h"

namespace fleet {

using agent_protocol::Result;

namespace {

using Ids = std::vector<std::string>;

Refusal refuse(std::string reason) {
  return Refusal{std::move(reason)};
}

// Names the nodes whose protocol is too old, such as `a (protocol 1 < 2), b (protocol 0 < 2)`.
// Returns an empty string if there are none.
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

// Returns the draft with these nodes divided into batches, by the draft's terms. All terms must
// have values: see settle().
Result<RolloutDraft> drafted(RolloutDraft draft, const Ids& nodes,
                             const std::vector<RolloutCandidate>& candidates,
                             const std::map<std::string, std::int64_t>& budgets) {
  std::vector<PlacedNode> placed;
  for (const RolloutCandidate& candidate : candidates) {
    if (!std::binary_search(nodes.begin(), nodes.end(), candidate.node.id)) continue;
    placed.push_back({candidate.node.id, candidate.node.info.labels});
  }
  RolloutTerms terms = draft.terms;
  for (const auto& [label, most] : budgets)
    terms.apart.push_back(label + ":" + std::to_string(most));
  BatchDraft batches = draft_batches(terms, std::move(placed));
  // `unlabelled` is for the labels of --apart only. Remove the labels that were added above for
  // budgets: a node without the label of a budget needs no place of the budget.
  for (const auto& [label, most] : budgets) {
    const bool is_apart = std::any_of(draft.terms.apart.begin(), draft.terms.apart.end(),
                                      [&label = label](const std::string& text) {
                                        const auto apart = parse_apart(text);
                                        return apart && apart.value().label == label;
                                      });
    if (!is_apart) batches.unlabelled.erase(label);
  }
  draft.batches = std::move(batches.batches);
  draft.unlabelled = std::move(batches.unlabelled);
  for (const Ids& batch : draft.batches) {
    if (auto wrong = wrong_confirm(draft.terms, batch.size())) return refuse(*wrong);
    if (write_record(RolloutBatch{batch}).size() > value_bytes_max) {
      return refuse("a batch of " + std::to_string(batch.size()) +
                    " nodes with such long names is longer than a record");
    }
  }
  return draft;
}

Put put_rollout(std::string_view id, const Rollout& rollout) {
  return {.key = key_of(KeyKind::rollout, {id}), .value = write_record(rollout)};
}

}  // namespace

bool is_rollout_id(std::string_view text) {
  return is_id(text) && text.size() <= rollout_id_bytes_max && !why_no_driven_name(text);
}

std::optional<std::string> why_name_was_used(std::string_view id, const Reading& reading) {
  const std::string name(id);
  if (!is_in_history("rollout/" + name, reading)) return std::nullopt;
  return "a rollout " + name +
         " has ended, and nodes may still know its orders: choose another name";
}

bool may_be_undone(const Release& release) {
  return std::none_of(
      release.manifests.begin(), release.manifests.end(), [](const ReleaseManifest& one) {
        const auto manifest = parse_tree(one.manifest);
        const JsonTree* undo = manifest ? manifest.value().find("undo") : nullptr;
        return undo != nullptr && undo->kind == JsonTree::Kind::boolean && !undo->truth;
      });
}

std::vector<RolloutCandidate> candidates_in(const std::vector<NodeView>& nodes,
                                            const std::string& component) {
  std::vector<RolloutCandidate> candidates;
  for (const NodeView& node : nodes) {
    if (!node.versions.running.contains(component)) continue;
    candidates.push_back({target_node(node), node.degraded()});
  }
  return candidates;
}

Result<RolloutDraft> draft_rollout(const RolloutTerms& terms,
                                   const std::vector<RolloutCandidate>& candidates,
                                   const std::string& seed, const DraftLeave& leave) {
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

  RolloutDraft draft{.terms = terms, .not_covered = selection.value().not_covered};
  Ids eligible;
  for (const std::string& id : selection.value().nodes) {
    const bool out = std::binary_search(degraded.begin(), degraded.end(), id);
    (out ? draft.excluded : eligible).push_back(id);
  }
  settle(draft.terms, eligible.size(), seed);
  if (auto wrong = wrong_terms(draft.terms)) return refuse(*wrong);
  if (eligible.empty() && !draft.excluded.empty()) {
    return refuse("no eligible nodes (" + std::to_string(draft.excluded.size()) +
                  " degraded excluded)");
  }
  if (eligible.empty()) {
    return refuse("no nodes: the target means none that reports the component " + terms.component);
  }
  const std::string old = too_old(candidates, eligible, terms.min_protocol);
  if (!old.empty()) return refuse(old);
  auto made = drafted(std::move(draft), eligible, candidates, leave.budgets);
  if (!made || made.value().terms.batches.empty() || leave.many_batches) return made;
  if (made.value().batches.size() > batches_unasked_max) {
    return refuse(std::to_string(made.value().batches.size()) + " batches, more than " +
                  std::to_string(batches_unasked_max) +
                  ": say yes to that many, or make them larger");
  }
  return made;
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
    // No plan may have the rollout's name, since the drivers of both would need the same key
    // driver/NAME.
    transaction.compares.push_back({.key = key_of(KeyKind::plan, {id})});
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
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
  rollout.batches = static_cast<std::int64_t>(draft.batches.size());
  rollout.batch = std::min(rollout.batch, rollout.batches);
  if (rollout.batch == rollout.batches) {
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    rollout.state = RolloutState::rolling;
    rollout.batch = 0;
    transaction.puts.push_back(put_rollout(id, rollout));
    return transaction;
  }
  // Add batches as long as the transaction has room for the largest possible batch, and for the
  // rollout's own record.
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

RolloutCreation::RolloutCreation(std::string id, Rollout wanted, RolloutDraft draft,
                                 Revision release)
    : Creation(
          key_of(KeyKind::rollout, {id}),
          "nothing may begin now (fleetctl stop), the release has changed, or a plan is called " +
              id),
      id_(std::move(id)),
      wanted_(std::move(wanted)),
      draft_(std::move(draft)),
      release_(release) {}

Result<std::optional<Transaction>> RolloutCreation::what_is_left(const KeyValue* found) const {
  const auto written = written_of(wanted_, found, "there is a rollout " + id_ + " already");
  if (!written) return written.refusal();
  return next_creation(id_, wanted_, draft_, release_, written.value());
}

}  // namespace fleet
