// This file has the parts of JudgeWatch that look at individual nodes: which nodes are compared,
// which nodes have failed, how much of a node's soak was seen, and which nodes of the control group
// have to be asked for their health. Further functions judge a batch by the measures (numbers such
// as a latency) that the upgraded component reports about itself.
#include <algorithm>
#include <utility>

#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/judge_watch.h"

namespace fleet {
namespace {

bool runs_new(const NodeSight& sight) {
  const bool is_on_trial =
      sight.node.stage == NodeStage::applying &&
      (sight.upgrade.phase == UpgradePhase::soaking || sight.upgrade.phase == UpgradePhase::soaked);
  return is_on_trial || sight.node.stage == NodeStage::confirming ||
         sight.node.stage == NodeStage::confirmed;
}

std::string control_runs(const std::string& rollout) {
  return rollout + ".control.";
}

bool has_soaked(const NodeSight& sight) {
  return (sight.node.stage == NodeStage::applying && sight.upgrade.phase == UpgradePhase::soaked) ||
         sight.node.stage == NodeStage::confirming || sight.node.stage == NodeStage::confirmed;
}

}  // namespace

// Chooses the control group: the nodes that come last in the random order that follows from the
// rollout's seed.
void JudgeWatch::choose_control(const RolloutView& view) {
  std::vector<std::pair<std::uint64_t, std::string>> places;
  std::int64_t nodes = 0;
  for (const auto& [number, batch] : view.batches) {
    nodes += static_cast<std::int64_t>(batch.size());
    for (const std::string& node : batch)
      places.emplace_back(place_of(view.rollout->terms.seed, node), node);
  }
  std::sort(places.rbegin(), places.rend());
  places.resize(static_cast<std::size_t>(control_size(nodes)));
  for (const auto& [place, node] : places)
    control_.insert(node);
  for (const std::string& node : unmoved_)
    parts_[node].enters = 0;
}

void JudgeWatch::look_at_moved(const RolloutView& view, Ms now) {
  for (const auto& [node, sight] : view.nodes) {
    if (sight.node.stage != NodeStage::waiting) look_at_moved(view, node, now);
  }
}

void JudgeWatch::look_at_moved(const RolloutView& view, const std::string& node, Ms now) {
  const NodeSight& sight = view.sight(node);
  if (unmoved_.erase(node) > 0) {
    cohorts_->leave(node, now);
    parts_.erase(node);
  }
  const auto found = parts_.find(node);
  if (runs_new(sight)) {
    if (found == parts_.end()) parts_[node].enters = now + judge_first_ms;
    return;
  }
  const bool has_ended =
      sight.node.stage != NodeStage::preparing && sight.node.stage != NodeStage::applying;
  if (!has_ended || found == parts_.end()) return;
  const bool is_fair = view.rollout->terms.component == "agent" || health_of(view, node) != nullptr;
  const bool is_failure = sight.node.stage == NodeStage::failed && is_fair;
  if (!found->second.enters && is_failure) fail(node, now);
  cohorts_->leave(node, now);
  parts_.erase(found);
}

// ---- failures

bool JudgeWatch::is_silent(const std::string& node) const {
  const auto found = heard_.find(node);
  return found == heard_.end() || found->second.instances.empty();
}

bool JudgeWatch::are_many_silent(const RolloutView& view) const {
  std::int64_t nodes = 0;
  std::int64_t silent = 0;
  for (const std::string& node : unmoved_) {
    if (!view.sight(node).is_in_cell) continue;
    ++nodes;
    silent += is_silent(node) ? 1 : 0;
  }
  return silent * judge_silent_share > nodes;
}

void JudgeWatch::fail(const std::string& node, Ms now) {
  failed_.insert(short_place(node));
  cohorts_->fail(node, now);
}

void JudgeWatch::enter(const RolloutView& view, const std::string& node, Part& part, Ms now) {
  const bool is_unmoved = unmoved_.contains(node);
  // A silent node is not compared before it reports again, since its state is not known. A silent
  // node that has moved is compared nevertheless, since it has reported the new version. This does
  // not hold if the node fell silent together with many others (is_lost).
  if (now < *part.enters || ((is_unmoved || part.is_lost) && is_silent(node))) return;
  part.enters.reset();
  part.is_lost = false;
  const Heard& heard = heard_[node];
  part.instance = heard.active;
  const auto own = heard.instances.find(part.instance);
  part.version = own == heard.instances.end() ? "" : own->second;
  if (is_unmoved && !control_.contains(node)) return;
  if (const NodeHealth* health = health_of(view, node); health != nullptr) {
    // A node that has already failed is not compared. `before` is the number of its failures before
    // this comparison, and failures() the number since then. `is_counted` makes look_at_health()
    // ignore these failures.
    part.is_counted = health->failures() > 0;
    if (health->before > 0 || part.is_counted) failed_.insert(short_place(node));
  }
  cohorts_->enter(node, is_unmoved ? Cohort::control : Cohort::fresh, now,
                  failed_.contains(short_place(node)));
}

void JudgeWatch::look_at_parts(const RolloutView& view, Ms now) {
  const bool many_silent = are_many_silent(view);
  for (auto& [node, part] : parts_) {
    // A node that was removed from the cell is not compared before it joins again.
    if (!view.sight(node).is_in_cell) {
      cohorts_->leave(node, now);
      part = {.enters = now, .is_lost = true};
      continue;
    }
    if (part.enters) {
      enter(view, node, part, now);
      continue;
    }
    if (is_silent(node)) {
      if (!part.silent_since) part.silent_since = now;
      if (now < *part.silent_since + judge_silent_ms) continue;
      part.silent_since.reset();
      if (!many_silent) {
        fail(node, now);
        continue;
      }
      cohorts_->leave(node, now);
      part.enters = now;
      part.is_lost = true;
      continue;
    }
    part.silent_since.reset();
    look_at_health(view, node, part, now);
    const Heard& heard = heard_.at(node);
    const auto own = heard.instances.find(heard.active);
    if (own == heard.instances.end() || heard.active == part.instance) continue;
    const bool is_restart = own->second == part.version;
    part.instance = heard.active;
    part.version = own->second;
    if (is_restart) fail(node, now);
  }
}

// ---- how much of the soak time the drivers have seen

// Adds to found_.seen_ms the soak time since the last look: `passed` for each node of the batch
// that soaks and is not silent. If a node's soak has ended since the last look, `passed` is added
// in full, too.
void JudgeWatch::look_at_soak(const RolloutView& view, Ms passed) {
  if (const auto turn = turn_of(*view.rollout); std::exchange(found_.batch, turn) != turn) {
    found_.seen_ms = 0;
    soaked_.clear();
  }
  soak_ms_ = 0;
  for (const std::string& node : view.batch()) {
    const NodeSight& sight = view.sight(node);
    if (!runs_new(sight)) continue;
    soak_ms_ += view.rollout->terms.soak_ms;
    if (sight.upgrade.phase != UpgradePhase::soaking && !soaked_.insert(node).second) continue;
    if (!is_silent(node)) found_.seen_ms += passed;
  }
}

// ---- health and measures

std::string control_run(const RolloutView& view) {
  return control_runs(view.id) + std::to_string(turn_of(*view.rollout)) + id_end(view);
}

std::vector<std::string> JudgeWatch::controls_to_ask(const RolloutView& view) const {
  std::vector<std::string> nodes;
  if (!cohorts_ || is_undoing(view)) return nodes;
  const std::string run = control_run(view);
  for (const std::string& node : control_) {
    const auto heard = heard_.find(node);
    if (!unmoved_.contains(node) || heard == heard_.end() || is_silent(node)) continue;
    const auto asked = heard->second.control.find(view.rollout->terms.component);
    if (asked == heard->second.control.end() || asked->second != run) nodes.push_back(node);
  }
  return nodes;
}

// Returns the health that the node has reported for this rollout, or null if it has reported none.
// The report of a node that has moved names the upgrade; that of a control node names the rollout.
const NodeHealth* JudgeWatch::health_of(const RolloutView& view, const std::string& node) const {
  const auto heard = heard_.find(node);
  if (heard == heard_.end()) return nullptr;
  const auto found = heard->second.health.find(view.rollout->terms.component);
  if (found == heard->second.health.end()) return nullptr;
  const std::string& run = found->second.run;
  const bool is_ours = unmoved_.contains(node)
                           ? run.starts_with(control_runs(id_)) && run.ends_with(id_end(view))
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
  // This node of the control group had already failed when it was asked for its health, so it is
  // not compared any more.
  failed_.insert(short_place(node));
  cohorts_->leave(node, now);
}

bool JudgeWatch::has_control_reports(const RolloutView& view) const {
  const auto reports = std::count_if(control_.begin(), control_.end(), [&](const auto& node) {
    return unmoved_.contains(node) && health_of(view, node) != nullptr;
  });
  return reports >= judge_control_min;
}

// Returns the reports that the nodes of the batch and of the control group have made at the end of
// the current batch's soak, and how many of these reports are still missing.
JudgeWatch::SoakReports JudgeWatch::soak_reports(const RolloutView& view) const {
  SoakReports reports;
  const std::string run = control_run(view);
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

// Judges the batch by the measures that the nodes have reported. Returns an empty string if the
// batch is judged, or need not be judged by measures. Otherwise returns a text for people about the
// reports that are still missing.
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

// Adds the results of the measures that the component reports about itself to the verdict on a
// batch.
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

// Returns the part of alpha_of(), the allowed chance of stopping a good version, that the
// comparison of failures may use: one half if the component is also judged by measures, otherwise
// all of it. In the first batch, the measures are not chosen yet. Then the part is one half as soon
// as enough nodes of the control group have reported their health.
double JudgeWatch::alpha_of_failures(const RolloutView& view) const {
  const bool may_have =
      !found_.measures.empty() || (view.rollout->batch == 0 && has_control_reports(view));
  return alpha_of(view.rollout->terms) * (may_have ? measures_share : 1);
}

}  // namespace fleet
