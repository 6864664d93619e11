// Makes the transactions of a rollout's driver: see RolloutWriter in rollout_decider.h.
#include "fleet/model/agent/wish_machine.h"
#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/judge_watch.h"
#include "fleet/model/rollouts/rollout_decider.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {
namespace {

// The most writes that order() or end() needs for one node. has_room() adds the writes for the
// node's places of budgets and for the rollout's own record.
constexpr std::size_t writes_of_a_node = 4;

// The longest possible id of a command fits: the longest name, a number of three digits, and the
// life of a rollout that was begun after a restore.
static_assert(rollout_id_bytes_max + std::string_view(".undo-prepare.999.").size() + life_bytes <=
              command_id_bytes_max);

CommandAction action_of(RolloutStep step) {
  switch (step) {
    case RolloutStep::prepare:
      return CommandAction::prepare;
    case RolloutStep::apply:
      return CommandAction::apply;
    case RolloutStep::confirm:
      return CommandAction::confirm;
    case RolloutStep::rollback:
      return CommandAction::rollback;
  }
  return CommandAction::unknown;
}

NodeStage stage_of(RolloutStep step) {
  switch (step) {
    case RolloutStep::prepare:
      return NodeStage::preparing;
    case RolloutStep::apply:
      return NodeStage::applying;
    case RolloutStep::confirm:
      return NodeStage::confirming;
    case RolloutStep::rollback:
      return NodeStage::rolling_back;
  }
  return NodeStage::unknown;
}

// Returns the desired version that an undo will write for the node: usually the node's own desired
// version. If the upgrade to that version has failed, returns the version that the node runs: the
// node would otherwise try the failed version again.
Desired wish_before(const NodeSight& sight) {
  Desired wish = *sight.desired;
  const Upgrade& last = sight.upgrade;
  const bool has_failed = last.phase == UpgradePhase::failed &&
                          is_attempt_at(last.attempt, sight.desired_revision) &&
                          is_version_name(sight.running);
  if (!has_failed) return wish;
  wish.why = brief(wish.version + " has failed: " + last.error);
  wish.version = sight.running;
  wish.digest.clear();
  return wish;
}

// Returns whether a person has pinned the node, that is, has given it a desired version of its own,
// since this rollout's first order to the node. Each order of a person has a trace of its own, so a
// trace that the rollout has not seen shows a newer order.
bool is_pinned_since_first_order(const NodeSight& sight) {
  if (!sight.desired || !sight.desired->pinned) return false;
  const auto& before = sight.node.desired_before;
  return before.empty() || before.front().trace != sight.desired->trace;
}

// Returns the rollout's record of the node after the order for this step. The first order stores
// the version that the node runs now in this record, for an undo.
RolloutNode ordered_record(const RolloutView& view, const NodeSight& sight, Standing standing,
                           RolloutStep step) {
  RolloutNode record = sight.node;
  if (is_undoing(view) && !record.undo) {
    record.undo = true;
    record.attempt = 0;
    record.error.clear();
    record.evidence.clear();
  }
  if (record.stage == NodeStage::not_judged && !record.undo) {
    record.again = view.rollout->again;
    record.attempt = 0;
    record.applied = false;
    record.error.clear();
    record.evidence.clear();
  }
  const bool is_first = step == RolloutStep::prepare && record.attempt == 0;
  // Record the node's previous version only at the first try of the batch. When the batch is tried
  // again, the node may still report the version that the first try has ordered.
  if (!record.undo && is_first && record.again == 0) {
    record.before = sight.running;
    if (sight.desired) record.desired_before = {wish_before(sight)};
  }
  if (standing == Standing::interrupted || record.attempt == 0) ++record.attempt;
  record.stage = stage_of(step);
  record.applied = record.applied || step == RolloutStep::apply;
  record.command = view.id + (record.undo ? ".undo-" : ".") + std::string(text_of(step)) + "." +
                   std::to_string(record.again * attempts_max + record.attempt) +
                   id_end(view, sight);
  return record;
}

}  // namespace

std::string_view text_of(RolloutStep step) {
  switch (step) {
    case RolloutStep::prepare:
      return "prepare";
    case RolloutStep::apply:
      return "apply";
    case RolloutStep::confirm:
      return "confirm";
    case RolloutStep::rollback:
      return "rollback";
  }
  return "";
}

RolloutWriter::RolloutWriter(const RolloutView& view, const DriverFacts& facts)
    : view_(view), facts_(facts), rollout_(*view.rollout) {
  rollout_.driver = facts.controller;
  transaction_.compares = {{.key = key_of(KeyKind::driver, {view.id}),
                            .of = Compare::Of::created,
                            .revision = facts.fence},
                           {.key = key_of(KeyKind::rollout, {view.id}), .revision = view.revision}};
}

void RolloutWriter::begins_something() {
  transaction_.compares.push_back({.key = key_of(KeyKind::stop)});
}

bool RolloutWriter::has_room() const {
  const Budgets* budgets = facts_.budgets;
  const bool has_places =
      budgets != nullptr && (budgets->is_set() || !budgets->nodes_of(claim_of(view_)).empty());
  const std::size_t places = has_places ? budget_labels_max : 0;
  return transaction_.puts.size() + transaction_.erases.size() + writes_of_a_node + places + 1 <=
         operations_max;
}

std::size_t RolloutWriter::places_room() const {
  return operations_max - transaction_.compares.size() - 1;
}

void RolloutWriter::take_places(const PlacesAnswer& answer) {
  auto& compares = transaction_.compares;
  compares.insert(compares.end(), answer.compares.begin(), answer.compares.end());
  transaction_.puts.insert(transaction_.puts.end(), answer.puts.begin(), answer.puts.end());
}

bool RolloutWriter::free_places(const std::string& node) {
  return facts_.budgets != nullptr &&
         facts_.budgets->give_back(transaction_, claim_of(view_), node);
}

void RolloutWriter::put_node(const std::string& node, const RolloutNode& record) {
  transaction_.puts.push_back(
      {.key = key_of(KeyKind::rollout_node, {view_.id, node}), .value = write_record(record)});
}

void RolloutWriter::order(const std::string& node, Standing standing, RolloutStep step, Ms ttl_ms,
                          Ms delay_ms) {
  const std::string& component = rollout_.terms.component;
  const NodeSight& sight = view_.sight(node);
  const RolloutNode record = ordered_record(view_, sight, standing, step);
  const bool undoes = record.undo;
  const Command command{
      .id = record.command,
      .action = action_of(step),
      .version = undoes ? record.before : rollout_.terms.version,
      .digest = undoes ? "" : rollout_.terms.digest,
      .not_after_ms = ttl_ms + delay_ms,
      .soak_ms = undoes ? 0 : rollout_.terms.soak_ms,
      .confirm_ms = confirm_ms(rollout_.terms),
      .delay_ms = delay_ms,
      .reason = step == RolloutStep::rollback ? rollout_.reason : "",
      .downgrade = rollout_.terms.downgrade && !undoes,
      .undo = undoes,
      .trace = view_.id,
      .judged = control_size(static_cast<std::int64_t>(view_.everyone.size())) > 0};
  transaction_.puts.push_back({.key = key_of(KeyKind::node_command, {node, component}),
                               .value = write_record(command),
                               .lease = facts_.lease ? facts_.lease->lease : 0});
  put_node(node, record);
  if (step != RolloutStep::prepare || !sight.claimed_by.empty()) return;
  const std::string claim = key_of(KeyKind::node_claim, {node, component});
  transaction_.compares.push_back({.key = claim});
  transaction_.puts.push_back({.key = claim, .value = write_record(Claim{.by = claim_of(view_)})});
}

void RolloutWriter::ask_control(const std::string& node) {
  const ControlWatch watch{
      .by = claim_of(view_), .run = control_run(view_), .soak_ms = rollout_.terms.soak_ms};
  transaction_.puts.push_back(
      {.key = key_of(KeyKind::node_control, {node, rollout_.terms.component}),
       .value = write_record(watch),
       .lease = facts_.lease ? facts_.lease->lease : 0});
}

void RolloutWriter::end(const NodeEnding& ending) {
  const std::string& component = rollout_.terms.component;
  const NodeSight& sight = view_.sight(ending.node);
  RolloutNode record = sight.node;
  record.stage = ending.stage;
  record.error = brief(ending.error);
  const bool has_failed = ending.stage == NodeStage::failed || ending.stage == NodeStage::kept;
  record.evidence = has_failed ? evidence_of(view_, ending.node) : std::vector<Capsule>{};
  // A person has removed the node's own desired version meanwhile, so an undo must not restore it.
  if (ending.stage == NodeStage::confirmed && !sight.desired) record.desired_before.clear();
  put_node(ending.node, record);
  if (ending.stage == NodeStage::failed) ++rollout_.failed;
  if (ending.stage == NodeStage::kept) ++rollout_.kept;
  if (ending.stage == NodeStage::unconfirmed) {
    rollout_.unconfirmed.push_back(ending.node);
    keep_some(rollout_.unconfirmed, ++rollout_.unconfirmed_count);
  }
  if (sight.node.stage != NodeStage::waiting && !is_end(sight.node.stage)) {
    transaction_.erases.push_back({.key = key_of(KeyKind::node_command, {ending.node, component})});
  }
  if (sight.claimed_by == claim_of(view_)) {
    transaction_.erases.push_back({.key = key_of(KeyKind::node_claim, {ending.node, component})});
  }
  free_places(ending.node);
  if (ending.stage == NodeStage::undone) put_wish_before(ending.node);
  if (ending.stage != NodeStage::confirmed) return;
  const std::string wish = compare_wish_of(ending.node);
  if (is_pinned_since_first_order(sight)) return;
  const Desired desired{.version = rollout_.terms.version,
                        .digest = rollout_.terms.digest,
                        .why = claim_of(view_),
                        .trace = view_.id};
  transaction_.puts.push_back({.key = wish, .value = write_record(desired)});
}

// Adds the condition that the node's own desired version is still the one that the view has.
// Returns the key of its record.
std::string RolloutWriter::compare_wish_of(const std::string& node) {
  std::string key = key_of(KeyKind::node_desired, {node, rollout_.terms.component});
  transaction_.compares.push_back({.key = key, .revision = view_.sight(node).desired_revision});
  return key;
}

// Restores the node's own desired version from before the rollout, if this rollout has written the
// present one.
void RolloutWriter::put_wish_before(const std::string& node) {
  const NodeSight& sight = view_.sight(node);
  if (!sight.desired || sight.desired->why != claim_of(view_)) return;
  const std::string key = compare_wish_of(node);
  if (sight.node.desired_before.empty()) {
    transaction_.erases.push_back({.key = key});
  } else {
    transaction_.puts.push_back(
        {.key = key, .value = write_record(sight.node.desired_before.front())});
  }
}

void RolloutWriter::refuse_wish() {
  rollout_.wish_refused = true;
  if (!view_.wish) return;
  Desired wish = *view_.wish;
  const auto is_ours = [this](const std::string& version) {
    return !version.empty() && is_same_version(version, rollout_.terms.version);
  };
  // A plan that has not finished has written a pending desired version, and restores the previous
  // one if the plan goes back. If the previous version is the rollout's, mark it as refused, too.
  const bool may_come_back = wish.pending && is_ours(wish.previous);
  if (!is_ours(wish.version) && !may_come_back) return;
  const std::string why = claim_of(view_) + " is undone";
  if (is_ours(wish.version)) wish.refused = why;
  if (may_come_back) wish.previous_refused = why;
  const std::string key = key_of(KeyKind::desired, {rollout_.terms.component});
  transaction_.compares.push_back({.key = key, .revision = view_.wish_revision});
  transaction_.puts.push_back({.key = key, .value = write_record(wish)});
}

void RolloutWriter::put_judge(const RolloutJudge& judge) {
  transaction_.puts.push_back(
      {.key = key_of(KeyKind::rollout_judge, {view_.id}), .value = write_record(judge)});
}

Transaction RolloutWriter::transaction() {
  transaction_.puts.push_back(
      {.key = key_of(KeyKind::rollout, {view_.id}), .value = write_record(rollout_)});
  return transaction_;
}

std::optional<Write> freed_places(const RolloutView& view, const DriverFacts& facts,
                                  const std::vector<std::string>& nodes) {
  RolloutWriter writer(view, facts);
  bool any = false;
  for (const std::string& id : nodes) {
    if (!writer.has_room()) break;
    any = writer.free_places(id) || any;
  }
  if (!any) return std::nullopt;
  return Write{writer.transaction(), ""};
}

Write judged(const RolloutView& view, const DriverFacts& facts) {
  RolloutWriter writer(view, facts);
  writer.put_judge(*facts.judge);
  if (!facts.is_worse) return Write{writer.transaction(), ""};
  writer.rollout().state = RolloutState::aborting;
  writer.rollout().undo = view.rollout->terms.undo;
  writer.rollout().reason = "judge: " + facts.judge->words;
  const std::string news = "aborts: " + writer.rollout().reason;
  return Write{writer.transaction(), news};
}

}  // namespace fleet
