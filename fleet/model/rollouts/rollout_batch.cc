// Finds out the state of the batch under way: see RolloutBatchNow in rollout_decider.h.
#include <algorithm>

#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decider.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {
namespace {

// Returns how the undo of a node has ended, or no value if the undo has not ended. If the node
// cannot go back, returns the stage `kept` with the reason.
std::optional<NodeEnding> ending_of_undo(const RolloutBatchNow::Node& node) {
  switch (node.stand.what) {
    case Standing::confirmed:
      return NodeEnding{node.id, NodeStage::undone, ""};
    case Standing::failed:
    case Standing::unconfirmed:
    case Standing::left:
      return NodeEnding{node.id, NodeStage::kept, "cannot go back: " + node.stand.why};
    case Standing::rolled_back:
      return NodeEnding{node.id, NodeStage::kept,
                        "cannot go back: its undo was rolled back, by a command or unconfirmed"};
    case Standing::waiting:
    case Standing::pending:
    case Standing::ready:
    case Standing::interrupted:
    case Standing::ended:
      return std::nullopt;
  }
  return std::nullopt;
}

void begin_wait(std::optional<Ms>& mark, Ms now) {
  if (!mark) mark = now;
}

void begin_waits(const RolloutView& view, RolloutMarks& marks, Ms now) {
  for (const std::string& id : view.batch()) {
    const NodeStage stage = view.sight(id).node.stage;
    if (stage == NodeStage::preparing) begin_wait(marks.prepare, now);
    if (stage == NodeStage::applying) begin_wait(marks.apply, now);
    if (stage == NodeStage::confirming) begin_wait(marks.confirm, now);
    if (stage == NodeStage::rolling_back) begin_wait(marks.rollback, now);
  }
}

// Returns whether the node waits until it may begin its `apply`, perhaps once more.
bool waits_to_begin(const RolloutBatchNow::Node& node) {
  if (node.undoes) return false;
  if (node.record.stage == NodeStage::preparing) return true;
  return node.record.stage == NodeStage::applying &&
         (!node.has_begun || node.stand.what == Standing::interrupted);
}

// Returns the state of a node that could not begin in time for this reason. If its batch can wait
// for it, it gets its order again. Otherwise it is left as it is.
Stand late_when_held(const RolloutNode& record, std::string_view why) {
  if (record.stage == NodeStage::preparing && !record.applied && record.attempt < attempts_max)
    return {Standing::interrupted, "interrupted"};
  return {Standing::left, std::string(why)};
}

// Returns the state of a node that has not answered the order of this stage in time.
Stand late(NodeStage stage) {
  if (stage == NodeStage::preparing) return {Standing::failed, "no answer to prepare"};
  if (stage == NodeStage::applying) {
    return {Standing::failed, "has not soaked in time to be confirmed with the others"};
  }
  if (stage == NodeStage::confirming)
    return {Standing::unconfirmed,
            "no answer to confirm came in time: it may have kept the new version"};
  return {Standing::failed, "no answer to roll-back"};
}

}  // namespace

RolloutBatchNow::RolloutBatchNow(const RolloutView& view, RolloutMarks& marks, Ms now)
    : rollout_(*view.rollout),
      marks_(marks),
      now_(now),
      spread_(is_undoing(view) && view.rollout->undo_now
                  ? 0
                  : spread_ms(rollout_.terms, view.batch().size())) {
  const bool takes_over = !marks.prepare && !marks.apply;
  begin_waits(view, marks, now);
  nodes_.reserve(view.batch().size());
  for (const std::string& id : view.batch()) {
    const NodeSight& sight = view.sight(id);
    Node node{.id = id,
              .record = sight.node,
              .stand = stand_of(view, sight),
              .has_begun = is_upgrade_of(view, sight),
              .undoes = is_undoing(view),
              .is_unjudged = view.rollout->state == RolloutState::rolling &&
                             sight.node.stage == NodeStage::rolling_back};
    // A driver that takes over does not know whether there has been a stop.
    if (view.stopped && waits_to_begin(node)) {
      marks.held[id] = "a stop kept it from beginning in time";
    } else if (takes_over && waits_to_begin(node) && !sight.instances.empty()) {
      marks.held[id] = "another controller took over before it began";
    }
    // The nodes on trial cannot wait for ever for one that has to begin again.
    const bool is_waited_for =
        view.rollout->state == RolloutState::rolling && marks.apply && sight.node.applied &&
        waits_to_begin(node) &&
        (node.stand.what == Standing::interrupted || node.stand.what == Standing::ready);
    if (node.stand.what == Standing::pending || is_waited_for) node.answer_by = answer_by(sight);
    const Standing before = node.stand.what;
    node.stand = in_time(node);
    if (node.stand.what != before) node.answer_by.reset();
    nodes_.push_back(std::move(node));
  }
}

std::optional<Ms> RolloutBatchNow::answer_by(const NodeSight& sight) const {
  const RolloutNode& record = sight.node;
  // A node that gets no `confirm` in time goes back by itself. All nodes must have soaked by
  // `soaked_by`, shortly before the first node of the batch would go back. The soak takes soak_ms,
  // so it must begin before `applied_by`.
  const Ms soaked_by = marks_.apply.value_or(now_) + confirm_ms(rollout_.terms) - confirm_margin_ms;
  const Ms applied_by = soaked_by - rollout_.terms.soak_ms;
  const bool is_silent = sight.instances.empty();
  const Ms undo_ms = spread_ + (is_silent ? silent_undo_ms : prepare_ms);
  switch (record.stage) {
    case NodeStage::preparing:
      if (record.undo) return *marks_.prepare + undo_ms;
      // This node prepares again, because its `apply` was interrupted. The other nodes of its batch
      // wait for it, so it has to soak in time with them. If none of them is on trial any more, or
      // if a driver has taken the rollout over, there is no such time.
      if (record.applied && marks_.apply) return applied_by;
      return *marks_.prepare + spread_ + prepare_ms;
    case NodeStage::applying:
      if (record.undo) return std::min(*marks_.apply + undo_ms, soaked_by);
      return sight.upgrade.phase == UpgradePhase::soaking ? soaked_by : applied_by;
    case NodeStage::confirming:
      return *marks_.confirm + confirm_answer_ms;
    case NodeStage::rolling_back:
      return *marks_.rollback + (is_silent && rollout_.undo ? silent_undo_ms : rollback_ms);
    case NodeStage::unknown:
    case NodeStage::waiting:
    case NodeStage::confirmed:
    case NodeStage::failed:
    case NodeStage::unconfirmed:
    case NodeStage::rolled_back:
    case NodeStage::left:
    case NodeStage::undone:
    case NodeStage::kept:
    case NodeStage::not_judged:
      return std::nullopt;
  }
  return std::nullopt;
}

Stand RolloutBatchNow::in_time(const Node& node) const {
  const bool again = node.stand.what == Standing::interrupted;
  if (again && node.record.attempt >= attempts_max) {
    const bool confirming = node.record.stage == NodeStage::confirming;
    return {confirming ? Standing::unconfirmed : Standing::failed,
            "interrupted " + std::to_string(attempts_max) + " times"};
  }
  if (!node.answer_by || now_ < *node.answer_by) return node.stand;
  const bool begins =
      node.record.stage == NodeStage::preparing || node.record.stage == NodeStage::applying;
  const auto held = marks_.held.find(node.id);
  if (begins && !node.undoes && held != marks_.held.end())
    return late_when_held(node.record, held->second);
  // If the node had begun before it was interrupted, the new version may have been the cause.
  if (node.stand.what != Standing::pending)
    return {node.has_begun ? Standing::failed : Standing::left,
            "was interrupted, and could not begin again in time"};
  return late(node.record.stage);
}

template <class IsWanted>
std::vector<std::string> RolloutBatchNow::ids_of(const IsWanted& is_wanted) const {
  std::vector<std::string> found;
  for (const Node& node : nodes_) {
    if (is_wanted(node)) found.push_back(node.id);
  }
  return found;
}

std::vector<std::string> RolloutBatchNow::in(NodeStage stage, Standing what) const {
  return ids_of([stage, what](const Node& node) {
    return node.record.stage == stage && node.stand.what == what;
  });
}

std::vector<std::string> RolloutBatchNow::in(NodeStage stage) const {
  return ids_of([stage](const Node& node) { return node.record.stage == stage; });
}

std::vector<std::string> RolloutBatchNow::in(Standing what) const {
  return ids_of([what](const Node& node) { return node.stand.what == what; });
}

// The nodes of a batch are sorted by name, so a binary search finds the node.
std::vector<RolloutBatchNow::Node>::const_iterator RolloutBatchNow::find(
    const std::string& id) const {
  return std::lower_bound(nodes_.begin(), nodes_.end(), id,
                          [](const Node& node, const std::string& name) { return node.id < name; });
}

Standing RolloutBatchNow::standing_of(const std::string& id) const {
  return find(id)->stand.what;
}

Ms RolloutBatchNow::delay_of(const std::string& id) const {
  const auto found = find(id);
  return spread_ * (found - nodes_.begin()) / std::max<Ms>(1, static_cast<Ms>(nodes_.size()));
}

bool RolloutBatchNow::has_begun() const {
  bool waits = false;
  bool moves = false;
  for (const Node& node : nodes_) {
    waits = waits || node.stand.what == Standing::waiting;
    moves = moves || (node.record.stage != NodeStage::waiting && !is_end(node.record.stage));
  }
  return moves || !waits;
}

std::optional<Ms> RolloutBatchNow::first_answer_by() const {
  std::optional<Ms> first;
  for (const Node& node : nodes_) {
    if (node.answer_by && (!first || *node.answer_by < *first)) first = node.answer_by;
  }
  return first;
}

std::optional<NodeEnding> ending_of(const RolloutBatchNow::Node& node) {
  if (node.undoes) return ending_of_undo(node);
  switch (node.stand.what) {
    case Standing::failed:
      return NodeEnding{node.id, NodeStage::failed, node.stand.why};
    case Standing::unconfirmed:
      return NodeEnding{node.id, NodeStage::unconfirmed, node.stand.why};
    case Standing::rolled_back:
      return NodeEnding{node.id, node.is_unjudged ? NodeStage::not_judged : NodeStage::rolled_back,
                        node.stand.why};
    case Standing::left:
      return NodeEnding{node.id, NodeStage::left, node.stand.why};
    case Standing::confirmed:
      return NodeEnding{node.id, NodeStage::confirmed, ""};
    case Standing::waiting:
    case Standing::pending:
    case Standing::ready:
    case Standing::interrupted:
    case Standing::ended:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string why_too_many(const RolloutView& view, const RolloutBatchNow& batch,
                         std::int64_t failed) {
  const RolloutTerms& terms = view.rollout->terms;
  const std::int64_t begun =
      std::count_if(view.nodes.begin(), view.nodes.end(),
                    [](const auto& one) { return one.second.node.stage != NodeStage::waiting; });
  const std::int64_t most = failures_to_abort(terms, begun);
  if (failed >= most) {
    return std::to_string(failed) + " failed, max-failed is " + std::to_string(most);
  }
  // A node that was left to somebody else has not tried the version.
  std::int64_t tried = 0;
  std::int64_t tried_and_failed = 0;
  for (const RolloutBatchNow::Node& node : batch.nodes()) {
    const bool has_failed =
        node.record.stage == NodeStage::failed || node.stand.what == Standing::failed;
    const bool was_left = node.record.stage == NodeStage::left || node.stand.what == Standing::left;
    tried += !was_left;
    tried_and_failed += has_failed;
  }
  if (!terms.max_failed_unsaid || tried == 0 || tried_and_failed < tried) return "";
  return std::to_string(failed) + " failed, among them every node of the batch that has tried it";
}

bool has_kept_node(const RolloutView& view) {
  return std::any_of(view.nodes.begin(), view.nodes.end(),
                     [](const auto& one) { return one.second.node.stage == NodeStage::confirmed; });
}

std::string why_untried(const RolloutView& view, const RolloutBatchNow& batch) {
  const std::vector<std::string> left = batch.in(NodeStage::left);
  if (left.size() < batch.nodes().size() || has_kept_node(view)) return "";
  return "left: " + listed(left) + ", and no node has kept " + view.rollout->terms.version +
         " so far";
}

}  // namespace fleet
