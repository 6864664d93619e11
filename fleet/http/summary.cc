#include "fleet/http/summary.h"

#include <algorithm>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/history/chronicle.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/judge_verdict.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet {
namespace {

std::string time_words(std::int64_t ms) {
  return countdown(ms / 1'000);
}

std::int64_t count_in(const CellState::OneRollout& one, NodeStage stage) {
  return std::count_if(one.nodes.begin(), one.nodes.end(),
                       [stage](const auto& node) { return node.second == stage; });
}

// Returns whether a node in this stage may be running the new version on trial.
bool is_on_trial(NodeStage stage) {
  return stage == NodeStage::applying || stage == NodeStage::confirming;
}

// Returns when the earliest and the latest of the current soaks began, as this controller has seen
// it. (A new version soaks on a node before it is confirmed.) Returns no value if no node soaks.
std::optional<std::pair<UnixSeconds, UnixSeconds>> soaks_of(const CellState& cell,
                                                            const CellState::OneRollout& one) {
  std::optional<std::pair<UnixSeconds, UnixSeconds>> span;
  for (const auto& [node, stage] : one.nodes) {
    const auto* soak = is_on_trial(stage) ? cell.soak(node, one.rollout.terms.component) : nullptr;
    if (soak == nullptr || soak->since == 0) continue;
    if (!span) span = {soak->since, soak->since};
    span->first = std::min(span->first, soak->since);
    span->second = std::max(span->second, soak->since);
  }
  return span;
}

std::int64_t spread_of(const CellState::OneRollout& one, std::uint64_t batch) {
  const auto found = one.batches.find(batch);
  const std::int64_t nodes = found == one.batches.end() ? 0 : found->second;
  return spread_ms(one.rollout.terms, static_cast<std::size_t>(std::max<std::int64_t>(nodes, 0)));
}

// Returns how many milliseconds the rollout's current batch still takes at least.
std::int64_t current_batch_ms(const CellState::OneRollout& one, BatchPhase phase,
                              const std::optional<UnixSeconds>& last_soak, UnixSeconds now) {
  const RolloutTerms& terms = one.rollout.terms;
  const std::int64_t spread = spread_of(one, static_cast<std::uint64_t>(one.rollout.batch));
  switch (phase) {
    case BatchPhase::confirming:
    case BatchPhase::pausing:
      return 0;
    case BatchPhase::soaking:
      if (last_soak)
        return std::max<std::int64_t>(*last_soak * 1'000 + terms.soak_ms - now * 1'000, 0);
      return terms.soak_ms;
    case BatchPhase::applying:
      return spread + terms.soak_ms;
    case BatchPhase::unknown:
    case BatchPhase::preparing:
      break;
  }
  return 2 * spread + terms.soak_ms;
}

std::string failures_words(const CellState::OneRollout& one) {
  const auto begun = static_cast<std::int64_t>(one.nodes.size());
  const std::int64_t most = failures_to_abort(one.rollout.terms, begun);
  return "stops by itself at " + counted(most, "failed node") +
         (one.rollout.terms.max_failed_unsaid ? ", or if all nodes of a batch fail" : "");
}

}  // namespace

RolloutTimes times_of(const CellState& cell, const CellState::OneRollout& one, UnixSeconds now) {
  const Rollout& rollout = one.rollout;
  const auto soaks = soaks_of(cell, one);
  const std::int64_t bake_ms = rollout.terms.bake_ms;
  RolloutTimes times;
  if (soaks) times.goes_back = soaks->first + confirm_ms(rollout.terms) / 1'000;
  if (rollout.state == RolloutState::baking)
    times.not_before = now + std::max<std::int64_t>(bake_ms - rollout.baked_ms, 0) / 1'000;
  if (rollout.state != RolloutState::rolling || rollout.batch >= rollout.batches) return times;
  const std::optional<UnixSeconds> last =
      soaks ? std::optional<UnixSeconds>(soaks->second) : std::nullopt;
  std::int64_t left_ms = bake_ms + current_batch_ms(one, phase_now(cell, one), last, now);
  const auto now_under_way = static_cast<std::uint64_t>(rollout.batch);
  for (auto at = one.batches.upper_bound(now_under_way); at != one.batches.end(); ++at) {
    left_ms += rollout.terms.pause_ms + rollout.terms.soak_ms + 2 * spread_of(one, at->first);
  }
  times.not_before = now + (left_ms + 999) / 1'000;
  return times;
}

std::vector<std::string> soaking_nodes(const CellState& cell, const CellState::OneRollout& one) {
  std::vector<std::string> nodes;
  for (const auto& [node, stage] : one.nodes) {
    if (stage == NodeStage::applying && cell.soak(node, one.rollout.terms.component) != nullptr)
      nodes.push_back(node);
  }
  return nodes;
}

BatchPhase phase_now(const CellState& cell, const CellState::OneRollout& one) {
  const BatchPhase phase = one.rollout.phase;
  if (phase != BatchPhase::applying) return phase;
  const auto soaking = static_cast<std::int64_t>(soaking_nodes(cell, one).size());
  const bool are_all = soaking > 0 && soaking == count_in(one, NodeStage::applying);
  return are_all ? BatchPhase::soaking : phase;
}

std::string progress_words(const CellState& cell, const CellState::OneRollout& one) {
  const Rollout& rollout = one.rollout;
  const BatchPhase phase = phase_now(cell, one);
  const std::int64_t kept = count_in(one, NodeStage::confirmed);
  std::string words;
  if (rollout.state == RolloutState::rolling && rollout.batch < rollout.batches) {
    words = "batch " + std::to_string(rollout.batch + 1) + " of " +
            std::to_string(rollout.batches) + " is " +
            (phase == BatchPhase::unknown ? "to begin" : std::string(text_of(phase)));
  } else {
    words = std::to_string(std::min(rollout.batch, rollout.batches)) + " of " +
            std::to_string(rollout.batches) + (rollout.batches == 1 ? " batch" : " batches") +
            " done";
  }
  if (rollout.state == RolloutState::baking) words += ", and it bakes";
  words += "; " + std::to_string(kept) + " of " + counted(one.node_count(), "node") +
           (kept == 1 ? " keeps" : " keep") + " the new version";
  if (rollout.failed > 0) words += "; " + std::to_string(rollout.failed) + " failed";
  return words;
}

std::vector<std::string> limits_of(const CellState::OneRollout& one) {
  const RolloutTerms& terms = one.rollout.terms;
  std::vector<std::string> limits{failures_words(one)};
  limits.push_back("each batch is watched for " + time_words(terms.soak_ms) +
                   " before its nodes are ordered to keep the version");
  limits.push_back("a node without that order goes back by itself after " +
                   time_words(confirm_ms(terms)));
  const bool is_judged =
      !terms.gates.empty() || terms.judge_timeout_ms != 0 || control_size(one.node_count()) > 0;
  if (is_judged) {
    limits.push_back("a batch whose judge or gates do not know goes back after " +
                     time_words(judge_timeout_ms(terms)) + ", and the rollout pauses");
  }
  if (terms.pause_ms > 0)
    limits.push_back("rests " + time_words(terms.pause_ms) + " between batches");
  for (const std::string& apart : terms.apart)
    limits.push_back("keeps apart the nodes of one " + apart);
  if (terms.bake_ms > 0) {
    limits.push_back("is judged on for " + time_words(terms.bake_ms) + " after its last batch");
  }
  if (auto words = judging_words(terms, one.node_count()); !words.empty())
    limits.push_back(std::move(words));
  if (terms.undo) limits.push_back("is undone by itself if it aborts by itself");
  if (terms.no_undo) limits.push_back("cannot be undone, as the release says");
  if (terms.ignore_window) limits.push_back("windows do not hold it");
  return limits;
}

std::string judge_words(const CellState::OneRollout& one) {
  if (one.judge && !one.judge->words.empty()) return one.judge->words;
  return control_size(one.node_count()) == 0 ? "too few nodes to compare"
                                             : "nothing is compared yet";
}

JsonTree rollout_summary(const CellState& cell, const CellState::OneRollout& one, UnixSeconds now) {
  const Rollout& rollout = one.rollout;
  JsonTree tree = json_object();
  tree.members["component"] = json_text(rollout.terms.component);
  tree.members["version"] = json_text(rollout.terms.version);
  tree.members["target"] = json_text(rollout.terms.target);
  tree.members["state"] = json_text(std::string(text_of(rollout.state)));
  tree.members["phase"] = json_text(std::string(text_of(phase_now(cell, one))));
  tree.members["order"] = json_text(std::string(text_of(rollout.order)));
  tree.members["ordered_by"] = json_text(rollout.ordered_by);
  tree.members["batch"] = json_number(rollout.batch);
  tree.members["batches"] = json_number(rollout.batches);
  tree.members["failed"] = json_number(rollout.failed);
  tree.members["reason"] = json_text(rollout.reason);
  tree.members["driver"] = json_text(rollout.driver);
  tree.members["who"] = json_text(rollout.who);
  tree.members["trace"] = json_text(rollout.trace);
  tree.members["created"] = json_text(rollout.created);
  tree.members["nodes"] = json_number(one.node_count());
  tree.members["progress"] = json_text(progress_words(cell, one));
  tree.members["limits"] = json_texts(limits_of(one));
  tree.members["judge"] = json_text(judge_words(one));
  std::vector<std::string> measures;
  for (const JudgedMeasure& measure : one.judge ? one.judge->measures : RolloutJudge{}.measures)
    measures.push_back(measure.name + ": " + measure.words);
  tree.members["measures"] = json_texts(measures);
  const RolloutTimes times = times_of(cell, one, now);
  if (times.not_before) tree.members["not_before"] = json_number(*times.not_before);
  if (times.goes_back) tree.members["goes_back"] = json_number(*times.goes_back);
  auto counts = one.stages();
  const std::vector<std::string> soaking = soaking_nodes(cell, one);
  if (!soaking.empty()) {
    const auto count = static_cast<std::int64_t>(soaking.size());
    counts["soaking"] = count;
    if ((counts["applying"] -= count) == 0) counts.erase("applying");
  }
  JsonTree& stages = tree.members["stages"] = json_object();
  for (const auto& [stage, count] : counts) {
    stages.members[stage] = json_number(count);
  }
  if (one.node_count() <= soaking_named_max) tree.members["soaking"] = json_texts(soaking);
  return tree;
}

// ---- the summary of the cell

namespace {

// The maximum number of names in a list of the summary, about a screen full. A client that needs
// all names can read the records of the nodes.
constexpr std::size_t names_max = 50;

JsonTree json_counts(const std::map<std::string, std::int64_t>& counts) {
  JsonTree tree = json_object();
  for (const auto& [name, count] : counts) {
    tree.members[name] = json_number(count);
  }
  return tree;
}

JsonTree plan_summary(const Plan& plan) {
  JsonTree tree = json_object();
  tree.members["state"] = json_text(std::string(text_of(plan.state)));
  tree.members["step"] = json_number(plan.step);
  tree.members["steps"] = json_number(static_cast<std::int64_t>(plan.steps.size()));
  tree.members["members"] = json_number(plan.enlisted);
  tree.members["error"] = json_text(plan.error);
  return tree;
}

JsonTree node_summary(const CellState& cell) {
  const NodeCount count = cell.count();
  JsonTree tree = json_object();
  std::vector<std::string> silent;
  JsonTree degraded = json_object();
  for (const auto& [id, node] : cell.nodes()) {
    if (!node.reports() && silent.size() < names_max) silent.push_back(id);
    const std::string why = node.degraded();
    if (!why.empty() && degraded.members.size() < names_max) degraded.members[id] = json_text(why);
  }
  tree.members["all"] = json_number(count.all);
  tree.members["reporting"] = json_number(count.reporting);
  tree.members["upgrading"] = json_number(count.upgrading);
  tree.members["silent"] = json_texts(silent);
  tree.members["degraded"] = std::move(degraded);
  return tree;
}

}  // namespace

JsonTree summary_of(const CellState& cell, UnixSeconds now) {
  JsonTree tree = json_object();
  tree.members["nodes"] = node_summary(cell);
  JsonTree& versions = tree.members["versions"] = json_object();
  for (const auto& [component, counts] : cell.versions()) {
    versions.members[component] = json_counts(counts);
  }
  JsonTree& desired = tree.members["desired"] = json_object();
  for (const auto& [component, wish] : cell.desired()) {
    desired.members[component] = json_text(wish.version);
  }
  JsonTree& rollouts = tree.members["rollouts"] = json_object();
  for (const auto& [id, one] : cell.rollouts()) {
    rollouts.members[id] = rollout_summary(cell, one, now);
  }
  JsonTree& plans = tree.members["plans"] = json_object();
  for (const auto& [name, plan] : cell.plans()) {
    plans.members[name] = plan_summary(plan);
  }
  JsonTree& drivers = tree.members["drivers"] = json_object();
  for (const auto& [id, controller] : cell.drivers()) {
    drivers.members[id] = json_text(controller);
  }
  if (cell.stop()) {
    JsonTree& stop = tree.members["stop"] = json_object();
    stop.members["who"] = json_text(cell.stop()->who);
    stop.members["why"] = json_text(cell.stop()->why);
    stop.members["since"] = json_text(cell.stop()->since);
  }
  // The cell is `running` if a controller drives a rollout, a plan or desired versions. The driver
  // of the history does not count. The driver of desired versions always exists, so it counts only
  // if the cell has desired versions.
  const bool drives = std::ranges::any_of(cell.drivers(), [&cell](const auto& driver) {
    const bool is_of_wishes = driver.first == desired_id && cell.desired().empty();
    return driver.first != events_id && !is_of_wishes;
  });
  tree.members["status"] = json_text(cell.stop() ? "stopped" : drives ? "running" : "idle");
  return tree;
}

}  // namespace fleet
