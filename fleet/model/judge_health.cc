// The part of JudgeWatch that asks the control group for its health, and judges a batch by the
// measures that the component reports about itself.
#include <algorithm>
#include <utility>

#include "fleet/model/judge_watch.h"

namespace fleet {
namespace {

std::string control_runs(const std::string& rollout) {
  return rollout + ".control.";
}

bool has_soaked(const NodeSight& sight) {
  return (sight.node.stage == NodeStage::applying && sight.upgrade.phase == UpgradePhase::soaked) ||
         sight.node.stage == NodeStage::confirming || sight.node.stage == NodeStage::confirmed;
}

}  // namespace

std::string control_run(const std::string& rollout, std::int64_t turn) {
  return control_runs(rollout) + std::to_string(turn);
}

std::vector<std::string> JudgeWatch::controls_to_ask(const RolloutView& view) const {
  std::vector<std::string> nodes;
  if (!cohorts_ || is_undoing(view)) return nodes;
  const std::string run = control_run(id_, turn_of(*view.rollout));
  for (const std::string& node : control_) {
    const auto heard = heard_.find(node);
    if (!unmoved_.contains(node) || heard == heard_.end() || is_silent(node)) continue;
    const auto asked = heard->second.control.find(view.rollout->terms.component);
    if (asked == heard->second.control.end() || asked->second != run) nodes.push_back(node);
  }
  return nodes;
}

// Returns the health that the node has reported for this rollout, after its upgrade to the new
// version or as a node of the control group. Returns null if it has reported none.
const NodeHealth* JudgeWatch::health_of(const RolloutView& view, const std::string& node) const {
  const auto heard = heard_.find(node);
  if (heard == heard_.end()) return nullptr;
  const auto found = heard->second.health.find(view.rollout->terms.component);
  if (found == heard->second.health.end()) return nullptr;
  const std::string& run = found->second.run;
  const bool is_ours = unmoved_.contains(node) ? run.starts_with(control_runs(id_))
                                               : run == view.sight(node).upgrade.attempt;
  return is_ours && !run.empty() ? &found->second : nullptr;
}

// Counts a failure if the node's record `health` shows one.
void JudgeWatch::look_at_health(const RolloutView& view, const std::string& node, Part& part,
                                Ms now) {
  const NodeHealth* health = health_of(view, node);
  if (health == nullptr || part.is_counted) return;
  const bool has_failed_before = health->before > 0 && unmoved_.contains(node);
  if (health->failures() == 0 && !has_failed_before) return;
  part.is_counted = true;
  if (!has_failed_before) return fail(node, now);
  // This node of the control group had already failed when it was asked, so it is not compared any
  // more.
  failed_.insert(short_place(node));
  cohorts_->leave(node, now);
}

bool JudgeWatch::has_control_reports(const RolloutView& view) const {
  const auto reports = std::count_if(control_.begin(), control_.end(), [&](const auto& node) {
    return unmoved_.contains(node) && health_of(view, node) != nullptr;
  });
  return reports >= judge_control_min;
}

// Returns what the nodes of the batch and of the control group have reported at the end of this
// soak.
JudgeWatch::SoakReports JudgeWatch::soak_reports(const RolloutView& view) const {
  SoakReports reports;
  const std::string run = control_run(id_, turn_of(*view.rollout));
  for (const std::string& node : control_) {
    const NodeHealth* health = unmoved_.contains(node) ? health_of(view, node) : nullptr;
    if (health == nullptr) continue;
    if (health->over && health->run == run) {
      reports.nodes.push_back({node, false, health->measures});
    } else if (!is_silent(node)) {
      ++reports.missing;
    }
  }
  for (const std::string& node : view.batch()) {
    if (!has_soaked(view.sight(node))) continue;
    ++reports.soaked;
    const NodeHealth* health = health_of(view, node);
    if (health != nullptr && health->over) {
      reports.nodes.push_back({node, true, health->measures});
    } else {
      ++reports.missing;
    }
  }
  return reports;
}

// Judges the batch by the measures that enough nodes have reported. Returns why the measures do not
// show yet whether the batch does well, or an empty text if they do.
std::string JudgeWatch::why_measures_miss(const RolloutView& view, Ms now) {
  const std::int64_t turn = turn_of(*view.rollout);
  if (over_.first != turn) over_ = {turn, now};
  if (view.rollout->batch > 0 && found_.measures.empty()) return "";
  if (found_.measures.empty() && !has_control_reports(view)) return "";
  const bool is_judged =
      !found_.measures.empty() &&
      std::all_of(found_.measures.begin(), found_.measures.end(),
                  [turn](const JudgedMeasure& measure) { return measure.batch == turn; });
  if (is_judged) return "";
  const SoakReports reports = soak_reports(view);
  if (reports.missing > 0 && now < over_.second + judge_measures_ms) {
    return "waits for the health of " + std::to_string(reports.missing) + " nodes";
  }
  if (found_.measures.empty()) found_.measures = chosen_measures(reports.nodes);
  std::string why;
  for (JudgedMeasure& measure : found_.measures) {
    const std::string one = judge_measure(measure, reports.nodes, reports.soaked, turn,
                                          tolerate_of(view.rollout->terms));
    if (!one.empty()) why += (why.empty() ? "" : "; ") + one;
  }
  return why;
}

// Adds the results of the component's own measures to the verdict on a batch.
void JudgeWatch::judge_measures(const RolloutView& view, bool is_soak_over, Ms now) {
  const std::string missing = is_soak_over ? why_measures_miss(view, now) : "";
  const std::string worse = tell_measures(found_.measures, alpha_of(view.rollout->terms));
  if (!worse.empty() && verdict_ != Verdict::worse) {
    found_.words += "; " + worse;
    verdict_ = Verdict::worse;
  } else if (!missing.empty() && verdict_ == Verdict::well) {
    found_.words += "; not known: " + missing;
    verdict_ = Verdict::not_known;
  }
}

// Returns the part of alpha, the allowed chance of stopping a good version, that the comparison of
// failures may use. If the component is judged by measures, too, this is half of what the judge may
// use. It is also half during the first batch, as soon as enough nodes of the control group have
// reported their health, since measures may still be chosen then.
double JudgeWatch::alpha_of_failures(const RolloutView& view) const {
  const bool may_have =
      !found_.measures.empty() || (view.rollout->batch == 0 && has_control_reports(view));
  return alpha_of(view.rollout->terms) * (may_have ? own_share : 1);
}

}  // namespace fleet
