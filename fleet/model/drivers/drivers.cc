#include "fleet/model/drivers/drivers.h"

#include <algorithm>
#include <utility>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {
namespace {

// Returns whether the transaction writes a command without a lease. A command needs a lease: when
// the lease ends, the store erases the command, and no node can begin it any more.
bool wants_lease(const Transaction& transaction) {
  return std::any_of(transaction.puts.begin(), transaction.puts.end(), [](const Put& put) {
    return put.lease == 0 && parse_key(put.key)->kind == KeyKind::node_command;
  });
}

}  // namespace

// ---- the driver of one rollout

RolloutTask::RolloutTask(const std::string& controller, std::string rollout, ZoneBook zones)
    : windows_(std::move(zones)), judge_(rollout) {
  view_.id = std::move(rollout);
  facts_.controller = controller;
}

std::string RolloutTask::key() const {
  return key_of(KeyKind::driver, {view_.id});
}

std::vector<std::string> RolloutTask::prefixes() const {
  const std::string rollout = key_of(KeyKind::rollout, {view_.id});
  return {rollout,
          key_below(rollout),
          key_of(KeyKind::stop),
          key_of(KeyKind::epoch),
          prefix_of(KeyKind::node_info),
          node_identities(),
          prefix_of(KeyKind::window),
          prefix_of(KeyKind::desired),
          key_of(KeyKind::settings),
          prefix_of(KeyKind::place)};
}

void RolloutTask::take(const KeyValue& record) {
  view_.take(record);
  windows_.take(record);
  budgets_.take(record);
  judge_.take(record);
}

void RolloutTask::take_absent(const std::string& key) {
  view_.take_absent(key);
  windows_.take_absent(key);
  budgets_.take_absent(key);
  judge_.take_absent(key);
}

void RolloutTask::take_all(const Reading& reading) {
  view_.take_all(reading);
  windows_.take_all(reading);
  budgets_.take_all(reading);
  judge_.take_all(reading);
}

// Returns whether the maintenance windows of the batch's nodes allow the batch to begin a step. The
// windows of all nodes that have not ended must be open, and must stay open for as long as a node
// waits for the command `confirm`. A node that gets no `confirm` in this time goes back to the old
// version by itself, so no upgrade is under way after this time.
Opening RolloutTask::window(Ms now) const {
  if (!view_.rollout || view_.rollout->terms.ignore_window) return {};
  std::vector<std::string> nodes = view_.batch();
  std::erase_if(nodes, [this](const std::string& node) {
    const Standing what = stand_of(view_, view_.sight(node)).what;
    return what == Standing::ended || what == Standing::left;
  });
  return windows_.opening(nodes, confirm_ms(view_.rollout->terms), now);
}

// Updates the judge, which compares the nodes that run the new version with those that run the old
// one, and notes its verdict for the next decision. If the batches do not have the nodes in a
// random order, the two groups may differ by more than the version. The verdict is then only shown
// to people.
void RolloutTask::ask_judge(Ms now) {
  judge_.look(view_, now);
  facts_.judge = judge_.news();
  facts_.is_worse = judge_.verdict() == Verdict::worse && view_.rollout &&
                    view_.rollout->terms.order == NodeOrder::random;
  facts_.unjudged = judge_.why_unconfirmed();
  facts_.controls = view_.rollout ? judge_.controls_to_ask(view_) : std::vector<std::string>{};
}

DriverStep RolloutTask::next(Revision fence, Ms now) {
  facts_.fence = fence;
  facts_.budgets = &budgets_;
  facts_.window = window(now);
  ask_judge(now);
  RolloutDecision decision = decide(view_, facts_, now);
  facts_.marks = decision.marks;
  if (const auto* want = std::get_if<WantLease>(&decision.what)) {
    facts_.lease = StepLease{decision.marks.batch, want->step, 0};
    return GrantLease{want->ttl_ms};
  }
  if (std::holds_alternative<WantGates>(decision.what)) return begin_round(now);
  if (auto* write = std::get_if<Write>(&decision.what)) return std::move(*write);
  if (const auto* over = std::get_if<Over>(&decision.what)) {
    return Over{over->why, !view_.damage.empty()};
  }
  Wait wait = std::get<Wait>(decision.what);
  if (const auto look = judge_.next_look(); look && (!wait.until || *look < *wait.until)) {
    wait.until = look;
  }
  return wait;
}

AskGates RolloutTask::begin_round(Ms now) {
  const Rollout& rollout = *view_.rollout;
  GateRound round{.number = ++rounds_, .turn = turn_of(rollout), .asked_at = now};
  if (facts_.gates && facts_.gates->turn == round.turn) {
    round.before = facts_.gates->is_answered ? facts_.gates->stands : facts_.gates->before;
  }
  facts_.gates = std::move(round);
  return {.round = rounds_,
          .gates = rollout.terms.gates,
          .rollout = view_.id,
          .component = rollout.terms.component,
          .version = rollout.terms.version,
          .batch = std::min(rollout.batch + 1, rollout.batches)};
}

void RolloutTask::take_gates(const GatesAnswered& event) {
  if (!facts_.gates || facts_.gates->number != event.round) return;
  facts_.gates->is_answered = true;
  facts_.gates->stands = event.stands;
}

void RolloutTask::granted(LeaseId lease) {
  if (lease == 0) {
    facts_.lease.reset();
  } else if (facts_.lease) {
    facts_.lease->lease = lease;
  }
}

bool RolloutTask::deny(const std::string& reason) {
  if (!facts_.denied.empty()) return false;
  facts_.denied = reason;
  return true;
}

std::string RolloutTask::words(Ms now) const {
  const auto ago = [now](std::optional<Ms> at) {
    return at ? std::to_string(now - *at) : std::string("-");
  };
  const RolloutMarks& marks = facts_.marks;
  std::string text = "sees @" + std::to_string(view_.revision) + " marks " +
                     std::to_string(marks.batch) + " " + ago(marks.prepare) + " " +
                     ago(marks.apply) + " " + ago(marks.judge) + " " + ago(marks.confirm) + " " +
                     ago(marks.rollback) + " " + ago(marks.pause) + " " + ago(marks.bake) + " " +
                     facts_.denied;
  for (const auto& [id, why] : marks.held)
    text += " held " + id + " " + std::string(why);
  if (const auto& round = facts_.gates) {
    text += " gates " + std::to_string(round->turn) + " " + ago(round->asked_at);
    for (const GateStand& stand : round->stands)
      text += " " + std::string(text_of(stand.says));
    for (const GateStand& stand : round->before)
      text += " before " + std::string(text_of(stand.says));
    if (!round->is_answered) text += " asked";
  }
  if (facts_.lease) text += " lease " + std::string(text_of(facts_.lease->step));
  return text;
}

// ---- the driver of one plan

PlanTask::PlanTask(const std::string& controller, std::string plan, ZoneBook zones)
    : windows_(std::move(zones)) {
  view_.name = std::move(plan);
  facts_.controller = controller;
}

std::string PlanTask::key() const {
  return key_of(KeyKind::driver, {view_.name});
}

std::vector<std::string> PlanTask::prefixes() const {
  return {key_of(KeyKind::plan, {view_.name}),
          key_below(key_of(KeyKind::plan, {view_.name}) + "/member"),
          prefix_of(KeyKind::once) + view_.name + "/",
          key_of(KeyKind::stop),
          key_of(KeyKind::epoch),
          prefix_of(KeyKind::node_info),
          node_identities(),
          prefix_of(KeyKind::rollout),
          prefix_of(KeyKind::desired),
          prefix_of(KeyKind::window),
          key_of(KeyKind::settings),
          prefix_of(KeyKind::place)};
}

void PlanTask::take(const KeyValue& record) {
  view_.take(record);
  windows_.take(record);
  budgets_.take(record);
}

void PlanTask::take_absent(const std::string& key) {
  view_.take_absent(key);
  windows_.take_absent(key);
  budgets_.take_absent(key);
}

void PlanTask::take_all(const Reading& reading) {
  view_.take_all(reading);
  windows_.take_all(reading);
  budgets_.take_all(reading);
}

DriverStep PlanTask::next(Revision fence, Ms now) {
  facts_.fence = fence;
  facts_.budgets = &budgets_;
  const Plan& plan = view_.plan;
  const bool is_free = plan.ignore_window;
  facts_.window = is_free ? Opening{} : windows_.opening(view_.ids, longest(view_, &budgets_), now);
  PlanDecision decision = decide_plan(view_, facts_, now);
  facts_.waits_for = decision.waits_for;
  facts_.since = decision.since;
  if (decision.over) {
    const std::string why = view_.revision == 0 ? "it is not there" : decision.news;
    return Over{why.empty() ? "it has ended" : why, !view_.damage.empty()};
  }
  if (decision.transaction) return Write{std::move(*decision.transaction), decision.news};
  return Wait{decision.until};
}

std::string PlanTask::words(Ms now) const {
  return "sees @" + std::to_string(view_.revision) + " waits " + facts_.waits_for + " " +
         std::to_string(now - facts_.since);
}

// ---- the driver of all desired versions

DesiredTask::DesiredTask(const std::vector<std::string>& components,
                         const DesiredSettings& settings, ZoneBook zones)
    : windows_(std::move(zones)), settings_(settings) {
  for (const std::string& component : components)
    components_.push_back({DesiredView(component)});
}

std::string DesiredTask::key() const {
  return key_of(KeyKind::driver, {desired_id});
}

std::vector<std::string> DesiredTask::prefixes() const {
  return {prefix_of(KeyKind::desired), prefix_of(KeyKind::node_info), node_identities(),
          key_of(KeyKind::stop),       prefix_of(KeyKind::window),    key_of(KeyKind::settings),
          prefix_of(KeyKind::place)};
}

namespace {

// Returns the component that this record is about, if the driver has to drive that component: a
// node was pinned or ordered to move to a version of it, or a budget place is taken for it. Returns
// an empty string in all other cases.
std::string component_needed(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return "";
  if (key->kind == KeyKind::node_desired) {
    const auto order = read_record<Desired>(record.value);
    const bool is_needed = order && (order.value().pinned || is_because_of_wish(order.value()));
    return is_needed ? key->names[1] : "";
  }
  const std::string run = run_of_desired("");
  if (key->kind != KeyKind::place) return "";
  const auto place = read_record<BudgetPlace>(record.value);
  if (!place || !place.value().by.starts_with(run)) return "";
  const std::string component = place.value().by.substr(run.size());
  return is_component(component) ? component : "";
}

}  // namespace

bool DesiredTask::has(const std::string& component) const {
  return std::ranges::any_of(components_, [&component](const Component& one) {
    return one.view.component() == component;
  });
}

void DesiredTask::take(const KeyValue& record) {
  if (const std::string needed = component_needed(record); !needed.empty() && !has(needed))
    missing_ = needed;
  for (Component& component : components_)
    component.view.take(record);
  windows_.take(record);
  budgets_.take(record);
}

void DesiredTask::take_absent(const std::string& key) {
  for (Component& component : components_)
    component.view.take_absent(key);
  windows_.take_absent(key);
  budgets_.take_absent(key);
}

void DesiredTask::take_all(const Reading& reading) {
  missing_.clear();
  for (const KeyValue& record : reading.found) {
    const std::string needed = component_needed(record);
    if (!needed.empty() && !has(needed)) components_.push_back({DesiredView(needed)});
  }
  for (Component& component : components_)
    component.view.take_all(reading);
  windows_.take_all(reading);
  budgets_.take_all(reading);
}

DriverStep DesiredTask::next(Revision fence, Ms now) {
  if (!missing_.empty()) return Over{"a node is pinned to a version of " + missing_, false};
  Wait wait;
  const auto opening = [this, now](const std::string& id, Ms takes) {
    return windows_.opening(id, takes, now);
  };
  const bool windows_changed = windows_seen_ != windows_.changes();
  windows_seen_ = windows_.changes();
  for (Component& component : components_) {
    component.marks.look(component.view, now);
    if (windows_changed) component.marks.reopen();
    DesiredDecision decision = decide_desired(component.view, settings_, component.marks, fence,
                                              lease_, now, &budgets_, opening);
    if (decision.transaction) {
      if (wants_lease(*decision.transaction)) return GrantLease{settings_.stop_ms};
      return Write{std::move(*decision.transaction), decision.news};
    }
    if (decision.until && (!wait.until || *decision.until < *wait.until)) {
      wait.until = decision.until;
    }
  }
  return wait;
}

std::string DesiredTask::words(Ms now) const {
  std::string text;
  for (const Component& component : components_) {
    text += component.view.component() + component.marks.words(now);
  }
  return text;
}

}  // namespace fleet
