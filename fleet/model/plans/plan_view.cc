// This file has the functions of PlanView, and other functions of plan_decision.h: those that
// change the desired version, that erase the records of a plan's last run, and that begin the
// plan's rollout of fleet-agent.
#include <algorithm>
#include <utility>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"
#include "fleet/model/signer/store_snapshots.h"

namespace fleet {

void PlanView::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::stop) stopped = true;
  if (key->kind == KeyKind::epoch) {
    const auto read = read_record<Epoch>(record.value);
    restored = read ? life_of(read.value(), record.modified).begins : record.modified;
  }
  if (key->kind == KeyKind::plan && key->names[0] == name) {
    const auto read = read_record<Plan>(record.value);
    plan = read ? read.value() : Plan{};
    damage = read ? "" : "plan/" + name + " " + read.reason();
    revision = record.modified;
  }
  if (key->kind == KeyKind::plan_member && key->names[0] == name) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), key->names[1]);
    if (at == ids.end() || *at != key->names[1]) ids.insert(at, key->names[1]);
  }
  if (key->kind == KeyKind::node_plan && key->names[1] == name) {
    const auto read = read_record<PlanMember>(record.value);
    const PlanMember damaged{.phase = MemberPhase::failed,
                             .error = true,
                             .message = read ? "" : "its record " + read.reason()};
    members[key->names[0]] = {read ? read.value() : damaged, record.modified};
  }
  if (key->kind == KeyKind::once && key->names[0] == name) {
    const auto read = read_record<Once>(record.value);
    if (read) once[key->names[1]] = read.value();
  }
  if (key->kind == KeyKind::desired) {
    const auto read = read_record<Desired>(record.value);
    wishes[key->names[0]] = {read ? read.value() : Desired{}, record.modified};
  }
  if (key->kind == KeyKind::place) {
    places.erase(record.key);
    const auto read = read_record<BudgetPlace>(record.value);
    if (read && read.value().by == place_owner(name))
      places[record.key] = {read.value().node, record.modified};
  }
  if (key->kind == KeyKind::rollout && key->names[0].starts_with(name + ".")) {
    const auto read = read_record<Rollout>(record.value);
    rollouts[key->names[0]] =
        read ? read.value() : Rollout{.state = RolloutState::unknown, .reason = read.reason()};
  }
}

void PlanView::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::stop) stopped = false;
  if (key->kind == KeyKind::epoch) restored = 0;
  if (key->kind == KeyKind::plan && key->names[0] == name) revision = 0;
  if (key->kind == KeyKind::plan_member && key->names[0] == name) std::erase(ids, key->names[1]);
  if (key->kind == KeyKind::node_plan && key->names[1] == name) members.erase(key->names[0]);
  if (key->kind == KeyKind::once && key->names[0] == name) once.erase(key->names[1]);
  if (key->kind == KeyKind::desired) wishes.erase(key->names[0]);
  if (key->kind == KeyKind::place) places.erase(text);
  if (key->kind == KeyKind::rollout) rollouts.erase(key->names[0]);
}

void PlanView::take_all(const Reading& reading) {
  *this = PlanView{.name = name};
  for (const KeyValue& record : reading.found)
    take(record);
}

namespace {

// Returns the transactions that erase the plan's records. Each transaction compares the plan's own
// record, and the last transaction erases it. So if the erasing is interrupted, it can be
// continued. The store refuses a transaction if another run has taken one of its budget places
// over.
std::vector<Transaction> erasure(const PlanView& view, std::vector<Erase> erases) {
  const std::string key = key_of(KeyKind::plan, {view.name});
  erases.push_back({.key = key_below(key), .subtree = true});
  erases.push_back({.key = key});
  std::vector<Transaction> parts;
  for (Erase& erase : erases) {
    if (parts.empty() || parts.back().erases.size() + 1 == operations_max) {
      parts.push_back({.compares = {{.key = key, .revision = view.revision}}});
    }
    if (const auto place = view.places.find(erase.key); place != view.places.end())
      parts.back().compares.push_back({.key = erase.key, .revision = place->second.revision});
    parts.back().erases.push_back(std::move(erase));
  }
  return parts;
}

// Returns the keys to erase that do not lie below the plan's own key: the members' own records, and
// the budget places that the plan has taken.
std::vector<Erase> of_members(const PlanView& view) {
  std::vector<Erase> erases;
  for (const auto& [key, place] : view.places)
    erases.push_back({.key = key});
  for (const std::string& id : view.ids) {
    erases.push_back({.key = key_of(KeyKind::node_plan, {id, view.name})});
  }
  return erases;
}

}  // namespace

std::string place_owner(const std::string& plan) {
  return "plan/" + plan;
}

MemberSight PlanView::member(const std::string& id) const {
  const auto found = members.find(id);
  return found == members.end() ? MemberSight{} : found->second;
}

std::vector<std::string> PlanView::those_before(std::int64_t step) const {
  std::vector<std::string> behind;
  for (const std::string& id : ids) {
    if (member(id).record.step < step) behind.push_back(id);
  }
  return behind;
}

namespace {

// Returns the desired version that the plan has written, or null if the store does not have this
// version any more, for example because a person has written another one.
const SeenWish* own_wish(const PlanView& view) {
  const auto found = view.wishes.find(view.plan.component);
  if (found == view.wishes.end()) return nullptr;
  const Desired& now = found->second.desired;
  const bool is_ours =
      now.pending && now.why == "plan/" + view.name && now.trace == view.plan.trace;
  return is_ours ? &found->second : nullptr;
}

// Adds to the transaction the write that replaces `now`, the desired version that the plan has
// written, by `wish`. If `wish` has no value, `now` is erased. The store refuses the transaction if
// `now` has changed.
void put_wish(Transaction& transaction, const PlanView& view, const SeenWish& now,
              const std::optional<Desired>& wish) {
  const std::string key = key_of(KeyKind::desired, {view.plan.component});
  transaction.compares.push_back({.key = key, .revision = now.revision});
  if (wish) {
    transaction.puts.push_back({.key = key, .value = write_record(*wish)});
  } else {
    transaction.erases.push_back({.key = key});
  }
}

Desired wish_of(const PlanView& view, const std::string& version, const std::string& digest) {
  return {
      .version = version, .digest = digest, .why = "plan/" + view.name, .trace = view.plan.trace};
}

}  // namespace

bool compare_wish(Transaction& transaction, const PlanView& view) {
  const SeenWish* now = own_wish(view);
  if (now == nullptr) return false;
  transaction.compares.push_back(
      {.key = key_of(KeyKind::desired, {view.plan.component}), .revision = now->revision});
  return true;
}

// Lets nodes move to the plan's version. If the undo of a rollout has marked this version as
// refused meanwhile, the mark stays: no node moves until a person desires the version again.
void release_wish(Transaction& transaction, const PlanView& view) {
  const SeenWish* now = own_wish(view);
  if (now == nullptr) return;
  Desired wish = wish_of(view, view.plan.version, view.plan.digest);
  wish.refused = now->desired.refused;
  put_wish(transaction, view, *now, wish);
}

// Restores the desired version from before the plan, with its whole record. If the undo of a
// rollout has marked that version as refused, the mark stays, and no node moves to it. A plan that
// an older program has begun knows only the version and its digest.
void restore_wish(Transaction& transaction, const PlanView& view) {
  const SeenWish* now = own_wish(view);
  if (now == nullptr) return;
  const Plan& plan = view.plan;
  std::optional<Desired> wish;
  if (!plan.desired_before.empty()) {
    wish = plan.desired_before.front();
  } else if (!plan.previous.empty()) {
    wish = wish_of(view, plan.previous, plan.previous_digest);
  }
  if (wish && !now->desired.previous_refused.empty()) wish->refused = now->desired.previous_refused;
  put_wish(transaction, view, *now, wish);
}

bool needs_places(const Plan& plan, const Budgets* budgets) {
  return budgets != nullptr && budgets->is_set() && !plan.over_budget;
}

std::string over_budget_text(const std::string& step, const Budgets& budgets) {
  return "step " + step + " stops all members at once, and the cell has " + budgets.limits_text() +
         ": let members do it one-at-a-time, unset that setting, or say \"over_budget\": true in "
         "the plan";
}

Ms longest(const PlanView& view, const Budgets* budgets) {
  Ms turns = 1;
  if (needs_places(view.plan, budgets)) {
    turns = 0;
    for (std::vector<std::string> left = view.ids; !left.empty(); ++turns)
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(budgets->fitting(left)));
  }
  Ms all = 0;
  for (const PlanStep& step : view.plan.steps) {
    const bool in_turn = step.kind == StepClass::one_at_a_time;
    const bool in_parts = step.kind == StepClass::any;
    all += step.timeout_ms * (in_turn ? static_cast<Ms>(view.ids.size()) : in_parts ? turns : 1);
  }
  return all;
}

std::vector<Transaction> recover_plan(const PlanView& view) {
  const PlanState state = view.plan.state;
  const bool ended = is_over(state) || state == PlanState::halted || state == PlanState::created;
  if (view.revision == 0 || !ended) return {};
  std::vector<Erase> erases = of_members(view);
  erases.push_back({.key = key_below(prefix_of(KeyKind::once) + view.name), .subtree = true});
  std::vector<Transaction> parts = erasure(view, std::move(erases));
  Transaction restoring{.compares = {parts.front().compares.front()}};
  restore_wish(restoring, view);
  if (restoring.compares.size() > 1) parts.insert(parts.begin(), std::move(restoring));
  return parts;
}

std::vector<Transaction> make_room(const PlanView& view) {
  if (view.revision == 0 || !is_over(view.plan.state)) return {};
  return erasure(view, of_members(view));
}

// ---- the rollout with which a plan upgrades fleet-agent on its members

std::string agent_rollout_id(const std::string& name, const Plan& plan) {
  return name + "." + plan.trace;
}

namespace {

// Returns how many nodes, from the node at `from` on, fit into one record, but at most `most`.
std::ptrdiff_t batch_size(std::vector<std::string>::const_iterator from, std::ptrdiff_t most) {
  while (most > 1 && write_record(RolloutBatch{{from, from + most}}).size() > value_bytes_max)
    most /= 2;
  return most;
}

}  // namespace

bool put_agent_rollout(Transaction& transaction, const std::string& name, const Plan& plan,
                       const std::vector<std::string>& nodes, const Budgets* budgets) {
  const std::string id = agent_rollout_id(name, plan);
  const auto key = key_if(KeyKind::rollout, {id});
  if (!key) return false;
  Rollout rollout{.terms = {.component = "agent",
                            .version = plan.agent,
                            .digest = plan.agent_digest,
                            .target = "members of plan " + name,
                            .batch = batch_nodes_max,
                            .canary = 1,
                            .soak_ms = plan.soak_ms,
                            .ignore_window = plan.ignore_window},
                  .state = RolloutState::rolling,
                  .who = "plan/" + name,
                  .trace = plan.trace};
  settle(rollout.terms, nodes.size(), plan.trace);
  RolloutTerms apart = rollout.terms;
  if (budgets != nullptr) apart.apart = budgets->aparts();
  const Budgets none;
  const auto placed = (budgets == nullptr ? none : *budgets).placed(nodes);
  for (const std::vector<std::string>& batch : draft_batches(apart, placed).batches) {
    for (auto from = batch.begin(); from != batch.end();) {
      const auto to = from + batch_size(from, batch.end() - from);
      transaction.puts.push_back(
          {.key = key_of(KeyKind::rollout_batch, {id}, static_cast<std::uint64_t>(rollout.batches)),
           .value = write_record(RolloutBatch{{from, to}})});
      ++rollout.batches;
      from = to;
    }
  }
  transaction.compares.push_back({.key = *key});
  transaction.puts.push_back({.key = *key, .value = write_record(rollout)});
  // Leave room for the plan's own record, which the caller adds later.
  Transaction whole = transaction;
  whole.puts.push_back({.key = *key + "/plan", .value = std::string(value_bytes_max, ' ')});
  return !why_not_taken(whole);
}

bool is_under_way(const Rollout& rollout) {
  return rollout.state == RolloutState::created || rollout.state == RolloutState::rolling ||
         rollout.state == RolloutState::aborting || rollout.state == RolloutState::undoing ||
         rollout.state == RolloutState::baking;
}

bool is_agent_under_way(const PlanView& view) {
  const auto found = view.rollouts.find(agent_rollout_id(view.name, view.plan));
  return found != view.rollouts.end() && is_under_way(found->second);
}

std::vector<std::string> those_of_other_agents(const PlanView& view) {
  std::vector<std::string> others;
  for (const std::string& id : view.ids) {
    const auto found = view.members.find(id);
    const std::string version = found == view.members.end() ? "" : found->second.record.version;
    const bool is_other = !is_same_version(version, view.plan.agent);
    if (!view.plan.agent.empty() && is_other) others.push_back(id);
  }
  return others;
}

}  // namespace fleet
