#include "fleet/controller/campaign.h"

#include <algorithm>

#include "fleet/model/desired_driver.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// A rollout that is `created` is not written to its end yet.
bool is_under_way(RolloutState state) {
  return state == RolloutState::rolling || state == RolloutState::paused ||
         state == RolloutState::aborting;
}

bool is_under_way(PlanState state) {
  return state == PlanState::running || state == PlanState::stopping;
}

// The names of those that are under way.
template <class Record>
std::vector<std::string> under_way(const Campaign::Records& records, KeyKind kind) {
  std::vector<std::string> names;
  for (const auto& [text, record] : records) {
    const auto key = parse_key(text);
    if (!key || key->kind != kind) continue;
    const auto read = read_record<Record>(record.value);
    if (read && is_under_way(read.value().state)) names.push_back(key->names.front());
  }
  return names;
}

}  // namespace

std::vector<Drivable> Campaign::drivable(const Records& rollouts, const Records& plans,
                                         const Records& desired) {
  std::vector<Drivable> all;
  for (const std::string& name : under_way<Rollout>(rollouts, KeyKind::rollout)) {
    all.push_back({Drivable::Kind::rollout, name});
  }
  for (const std::string& name : under_way<Plan>(plans, KeyKind::plan)) {
    all.push_back({Drivable::Kind::plan, name});
  }
  Drivable wishes{Drivable::Kind::desired, std::string(desired_id)};
  for (const auto& [text, record] : desired) {
    const auto key = parse_key(text);
    if (key && key->kind == KeyKind::desired) wishes.components.push_back(key->names.front());
  }
  if (!wishes.components.empty()) all.push_back(std::move(wishes));
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
  Rest& rest = rests_[id];
  const bool soon = drove && now - began < longest_rest_ms;
  rest.length = soon ? std::clamp(2 * rest.length, first_rest_ms, longest_rest_ms) : first_rest_ms;
  rest.until = now + rest.length;
}

}  // namespace fleet
