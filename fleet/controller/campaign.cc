#include "fleet/controller/campaign.h"

#include <algorithm>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns whether a rollout in this state needs a driver (the state machine that carries it out). A
// rollout in the state `created` needs no driver, since some of its records are still missing.
bool is_under_way(RolloutState state) {
  return state == RolloutState::rolling || state == RolloutState::paused ||
         state == RolloutState::aborting || state == RolloutState::undoing ||
         state == RolloutState::baking;
}

bool is_under_way(PlanState state) {
  return state == PlanState::running || state == PlanState::stopping;
}

template <class Record>
void keep_if_under_way(std::set<std::string>& names, const std::string& name,
                       const KeyValue& record) {
  const auto read = read_record<Record>(record.value);
  if (read && !why_no_driven_name(name) && is_under_way(read.value().state)) {
    names.insert(name);
  } else {
    names.erase(name);
  }
}

}  // namespace

void Drivables::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::rollout) {
    keep_if_under_way<Rollout>(rollouts_, key->names.front(), record);
  }
  if (key->kind == KeyKind::plan) keep_if_under_way<Plan>(plans_, key->names.front(), record);
  if (key->kind == KeyKind::desired) components_.insert(key->names.front());
}

void Drivables::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::rollout) rollouts_.erase(key->names.front());
  if (key->kind == KeyKind::plan) plans_.erase(key->names.front());
  if (key->kind == KeyKind::desired) components_.erase(key->names.front());
}

std::vector<Drivable> Drivables::list() const {
  std::vector<Drivable> all;
  for (const std::string& name : rollouts_)
    all.push_back({Drivable::Kind::rollout, name});
  for (const std::string& name : plans_)
    all.push_back({Drivable::Kind::plan, name});
  all.push_back(
      {Drivable::Kind::desired, std::string(desired_id), {components_.begin(), components_.end()}});
  return all;
}

std::vector<Drivable> Campaign::to_begin(const std::vector<Drivable>& drivable,
                                         const Records& drivers, Ms now) const {
  std::vector<Drivable> begin;
  for (const Drivable& one : drivable) {
    const auto rest = rests_.find(one.id);
    const bool rests = rest != rests_.end() && now < rest->second.until;
    if (!rests && !drivers.contains(key_of(KeyKind::driver, {one.id}))) begin.push_back(one);
  }
  return begin;
}

std::optional<Ms> Campaign::next_deadline(const std::vector<Drivable>& drivable, Ms now) const {
  std::optional<Ms> first;
  for (const Drivable& one : drivable) {
    const auto rest = rests_.find(one.id);
    if (rest == rests_.end() || rest->second.until <= now) continue;
    if (!first || rest->second.until < *first) first = rest->second.until;
  }
  return first;
}

void Campaign::ended(const std::string& id, bool drove, Ms began, Ms now) {
  // The pause before the next driver of `id` doubles, up to `longest_rest_ms`, as long as its
  // drivers end soon after their start. Erase pauses that ended long ago, so that the map does not
  // grow.
  std::erase_if(rests_,
                [now](const auto& one) { return one.second.until + 2 * longest_rest_ms < now; });
  Rest& rest = rests_[id];
  const bool soon = drove && now - began < longest_rest_ms;
  rest.length = soon ? std::clamp(2 * rest.length, first_rest_ms, longest_rest_ms) : first_rest_ms;
  rest.until = now + rest.length;
}

}  // namespace fleet
