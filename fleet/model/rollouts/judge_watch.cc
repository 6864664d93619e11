#include "fleet/model/rollouts/judge_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns whether the batch's soak is over, and how much of the soak time the rollout's drivers
// have seen. The soak is over when each node of the batch has soaked, or has ended its upgrade in
// another way.
BatchSeen seen_of(const RolloutView& view, Ms seen_ms, Ms soak_ms) {
  BatchSeen seen{.is_soak_over = true, .seen_ms = std::min(seen_ms, soak_ms), .soak_ms = soak_ms};
  for (const std::string& node : view.batch()) {
    const NodeSight& sight = view.sight(node);
    const bool begins =
        sight.node.stage == NodeStage::waiting || sight.node.stage == NodeStage::preparing ||
        (sight.node.stage == NodeStage::not_judged && sight.node.again < view.rollout->again);
    const bool soaks =
        sight.node.stage == NodeStage::applying && sight.upgrade.phase != UpgradePhase::soaked;
    if (begins || soaks) seen.is_soak_over = false;
  }
  return seen;
}

}  // namespace

// ---- records

void JudgeWatch::take(const KeyValue& record) {
  take_text(record.key, &record.value);
}

void JudgeWatch::take_absent(const std::string& key) {
  take_text(key, nullptr);
}

void JudgeWatch::take_all(const Reading& reading) {
  heard_.clear();
  written_.reset();
  for (const KeyValue& record : reading.found)
    take(record);
}

void JudgeWatch::take_text(const std::string& key, const std::string* text) {
  const std::optional<ParsedKey> parsed = parse_key(key);
  if (!parsed) return;
  const std::vector<std::string>& names = parsed->names;
  if (parsed->kind == KeyKind::node_instance) {
    auto& instances = heard_[names[0]].instances;
    instances.erase(names[1]);
    if (text == nullptr) return;
    const auto instance = read_record<Instance>(*text);
    instances[names[1]] = instance ? instance.value().version : "";
  }
  if (parsed->kind == KeyKind::node_active) {
    const auto active = text == nullptr ? Result<Active>(Active{}) : read_record<Active>(*text);
    heard_[names[0]].active = active ? active.value().instance : "";
  }
  if (parsed->kind == KeyKind::node_health) {
    auto& health = heard_[names[0]].health;
    health.erase(names[1]);
    const auto record =
        text == nullptr ? Result<NodeHealth>(Refusal{}) : read_record<NodeHealth>(*text);
    if (record) health[names[1]] = record.value();
  }
  if (parsed->kind == KeyKind::node_control) {
    const auto watch =
        text == nullptr ? Result<ControlWatch>(ControlWatch{}) : read_record<ControlWatch>(*text);
    heard_[names[0]].control[names[1]] = watch ? watch.value().run : "";
  }
  if (parsed->kind == KeyKind::rollout_judge && names[0] == id_) {
    written_.reset();
    if (text == nullptr) return;
    const auto judge = read_record<RolloutJudge>(*text);
    // A record that cannot be read is ignored, and overwritten later.
    if (judge) written_ = judge.value();
  }
}

// ---- which nodes are compared

void JudgeWatch::begin(const RolloutView& view) {
  std::int64_t nodes = 0;
  for (const auto& [number, batch] : view.batches) {
    nodes += static_cast<std::int64_t>(batch.size());
    if (number >= view.rollout->batch) unmoved_.insert(batch.begin(), batch.end());
  }
  if (control_size(nodes) == 0) return;
  const double tolerate = tolerate_of(view.rollout->terms);
  cohorts_.emplace(tolerate);
  if (written_) remember(*written_, tolerate);
  choose_control(view);
}

void JudgeWatch::remember(const RolloutJudge& judge, double tolerate) {
  found_ = judge;
  control_ms_before_ = judge.control_ms;
  failed_.insert(judge.failed.begin(), judge.failed.end());
  Evidence::Logs logs = {};
  for (std::size_t i = 0; i < std::min(logs.size(), judge.logs.size()); ++i)
    logs[i] = static_cast<double>(judge.logs[i]) / million;
  cohorts_.emplace(tolerate, Evidence(logs), judge.fresh_failed, judge.control_failed);
}

// ---- looks and verdicts

void JudgeWatch::look(const RolloutView& view, Ms now) {
  const bool bakes = view.rollout && view.rollout->state == RolloutState::baking;
  const bool rolls = bakes || (view.rollout && view.rollout->state == RolloutState::rolling);
  if (!rolls) {
    // Nodes are not watched while the rollout is not under way, so forget since when each node has
    // been silent.
    if (std::exchange(looked_at_, std::nullopt)) {
      for (auto& [node, part] : parts_)
        part.silent_since.reset();
    }
    return;
  }
  if (looked_at_ && now < *looked_at_ + judge_look_ms) return;
  const std::optional<Ms> before = std::exchange(looked_at_, now);
  if (!before) began_at_ = now;
  if (!before && !cohorts_ && parts_.empty()) begin(view);
  if (!cohorts_) return;
  look_at_soak(view, before ? now - *before : 0);
  if (failed_.size() < judge_failed_max) {
    look_at_moved(view, now);
    look_at_parts(view, now);
  }
  cohorts_->look(now);
  if (bakes) count_bake();
  conclude(view, now);
}

// Adds what has happened since the last look to the two counts of the bake: the failures of nodes
// with the new version, and the time for which all these nodes were compared and had not failed.
void JudgeWatch::count_bake() {
  const CohortCount now = cohorts_->count(Cohort::fresh);
  const CohortCount before = std::exchange(baked_, now).value_or(now);
  found_.bake_failed += now.failed - before.failed;
  found_.bake_ms += now.node_ms - before.node_ms;
}

void JudgeWatch::judge_bake(const RolloutView& view) {
  constexpr Ms notes_of_a_bake = 100;
  bake_note_ms_ = std::max(judge_note_ms, view.rollout->terms.bake_ms / notes_of_a_bake);
  const BakeCounts counts{.control_failed = found_.control_failed,
                          .control_ms = found_.control_ms,
                          .failed = found_.bake_failed,
                          .node_ms = found_.bake_ms};
  const auto judgement = fleet::judge_bake(
      counts, cohorts_->evidence().log(),
      {.alpha = alpha_of_failures(view), .tolerate = tolerate_of(view.rollout->terms)});
  verdict_ = judgement.verdict;
  is_waited_for_ = false;
  found_.words = judgement.words;
}

void JudgeWatch::judge_batch(const RolloutView& view, Ms now) {
  const Compared compared{cohorts_->count(Cohort::fresh), cohorts_->count(Cohort::control),
                          cohorts_->evidence().log()};
  std::int64_t nodes = 0;
  for (const auto& [number, batch] : view.batches)
    nodes += static_cast<std::int64_t>(batch.size());
  const NodeOrder order = view.rollout->terms.order;
  const BatchSeen seen = seen_of(view, found_.seen_ms, soak_ms_);
  const auto judgement =
      judge(compared, seen, {.alpha = alpha_of_failures(view), .nodes = nodes, .order = order});
  verdict_ = judgement.is_waited_for ? judgement.verdict : Verdict::not_known;
  is_waited_for_ = judgement.is_waited_for && order == NodeOrder::random;
  found_.words = judgement.words;
  judge_measures(view, seen.is_soak_over, now);
  const auto left = std::count_if(control_.begin(), control_.end(),
                                  [this](const auto& node) { return unmoved_.contains(node); });
  if (left < judge_control_min || order != NodeOrder::random) return;
  // This rollout has a control group, so the verdict cannot be `well` until that group was compared
  // for some time.
  const CohortCount& control = compared.control;
  const bool is_early = now < began_at_ + judge_delay_ms + judge_look_ms;
  const bool is_unheard = control.at_risk + control.failed < judge_control_min;
  if (verdict_ == Verdict::worse || !(is_early || is_unheard || are_many_silent(view))) return;
  is_waited_for_ = true;
  verdict_ = Verdict::not_known;
  found_.words += is_early ? "; this driver has looked for less than two minutes"
                           : "; too many of the nodes that have not moved are silent";
}

void JudgeWatch::conclude(const RolloutView& view, Ms now) {
  const CohortCount& fresh = cohorts_->count(Cohort::fresh);
  const CohortCount& control = cohorts_->count(Cohort::control);
  found_.control_ms = control_ms_before_ + control.node_ms;
  found_.fresh = fresh.nodes;
  found_.fresh_failed = fresh.failed;
  found_.control = control.nodes;
  found_.control_failed = control.failed;
  const bool bakes = view.rollout->state == RolloutState::baking;
  bakes ? judge_bake(view) : judge_batch(view, now);
  found_.failed.assign(failed_.begin(), failed_.end());
  found_.verdict = std::string(text_of(verdict_));
  found_.logs.clear();
  for (const double log : cohorts_->evidence().logs())
    found_.logs.push_back(std::llround(log * million));
  // A record is cut when it is read, if its strings and lists are too long. Cut `found_` in the
  // same way. Otherwise it would differ from the record in the store, and would be written again
  // and again.
  static_cast<void>(put_right(found_));
  is_news_ = is_news(now);
  if (is_news_) noted_at_ = now;
}

bool JudgeWatch::is_news(Ms now) const {
  if (found_.fresh + found_.control == 0 && failed_.empty() && !written_) return false;
  RolloutJudge before = written_.value_or(RolloutJudge{});
  // The judge's text contains rates, which change all the time. So a change of the text alone does
  // not cause a write.
  before.words = found_.words;
  constexpr Ms parts = 10;
  if (found_.seen_ms < before.seen_ms + soak_ms_ / parts && found_.batch == before.batch)
    before.seen_ms = found_.seen_ms;
  // The time at risk (how long nodes were compared and had not failed) grows all the time. A change
  // of the control group's time alone causes no write. The time of the bake is written at intervals
  // of bake_note_ms_, so a driver that dies loses at most one interval.
  before.control_ms = found_.control_ms;
  if (now < noted_at_ + bake_note_ms_) before.bake_ms = found_.bake_ms;
  if (before == found_) return false;
  before.failed = found_.failed;
  return before != found_ || now >= noted_at_ + judge_note_ms;
}

std::string JudgeWatch::why_unconfirmed() const {
  const bool is_held = is_waited_for_ && verdict_ == Verdict::not_known;
  return is_held ? found_.words : "";
}

std::optional<Ms> JudgeWatch::next_look() const {
  if (!cohorts_ || !looked_at_) return std::nullopt;
  return *looked_at_ + judge_look_ms;
}

std::optional<RolloutJudge> JudgeWatch::news() const {
  if (!is_news_ || written_ == found_) return std::nullopt;
  return found_;
}

}  // namespace fleet
