#include "fleet/http/held_work.h"

#include <cstdint>
#include <string>
#include <utility>

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"
#include "fleet/model/rollout_terms.h"
#include "fleet/model/windows.h"

namespace fleet {
namespace {

// Returns why the batch of the rollout `id` cannot begin now. Looks only at the records of the
// batch and of its nodes, since a rollout may have thousands of others.
Held held_rollout(const std::string& id, const Rollout& rollout, const StateView& view,
                  const StateMoment& moment) {
  Reading records;
  const auto add = [&](const std::string& key) {
    const auto record = view.records.find(key);
    if (record != view.records.end()) records.found.push_back(record->second);
  };
  add(key_of(KeyKind::rollout_batch, {id}, static_cast<std::uint64_t>(rollout.batch)));
  const auto all = nodes_to_begin(rollout, records);
  for (const std::string& node : all) {
    if (const auto key = key_if(KeyKind::rollout_node, {id, node})) add(*key);
  }
  const ToBegin what{nodes_to_begin(rollout, records), confirm_ms(rollout.terms),
                     rollout.terms.ignore_window};
  for (const std::string& node : what.nodes) {
    if (const auto key = key_if(KeyKind::node_info, {node})) add(*key);
    if (const auto key = key_if(KeyKind::identity, {node_kind, node})) add(*key);
  }
  add(key_of(KeyKind::stop));
  const std::string windows = prefix_of(KeyKind::window);
  for (auto at = view.records.lower_bound(windows); at != view.records.end(); ++at) {
    if (!at->first.starts_with(windows)) break;
    records.found.push_back(at->second);
  }
  return held_back(what, records, moment.now, [&moment](const std::string& name) {
    const auto zone = moment.zone(name);
    return zone ? Result<TimeZone>(*zone) : Refusal{"tzdata has none of that name here"};
  });
}

}  // namespace

HeldWork held_work(const StateView& view, const StateMoment& moment) {
  HeldWork held;
  for (const auto& [id, one] : view.cell.rollouts()) {
    if (one.rollout.state != RolloutState::rolling) continue;
    Held why = held_rollout(id, one.rollout, view, moment);
    if (!why.words.empty()) held["rollout/" + id] = std::move(why);
  }
  return held;
}

}  // namespace fleet
