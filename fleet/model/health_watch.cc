#include "fleet/model/health_watch.h"

#include <algorithm>
#include <utility>

#include "fleet/model/measure_lines.h"

namespace fleet {

HealthRun health_run_of(const NodeLedger* ledger, const std::optional<ControlWatch>& control) {
  const bool has_moved = ledger != nullptr && ledger->upgrade.action == CommandAction::apply &&
                         ledger->progress.attempt == ledger->upgrade.id && !ledger->upgrade.undo;
  const UpgradePhase phase = has_moved ? ledger->progress.phase : UpgradePhase::unknown;
  const bool is_soaked = phase == UpgradePhase::soaked || phase == UpgradePhase::done;
  if (is_soaked || phase == UpgradePhase::soaking) {
    return {.id = ledger->upgrade.id,
            .soak_ms = ledger->upgrade.soak_ms,
            .judged = ledger->upgrade.judged,
            .soaked = is_soaked};
  }
  if (!control) return {};
  return {.id = control->run, .by = control->by, .soak_ms = control->soak_ms, .judged = true};
}

HealthWatch::HealthWatch(std::string boot_id, std::string instance, bool measures)
    : boot_id_(std::move(boot_id)), instance_(std::move(instance)), has_measures_(measures) {}

void HealthWatch::look(const HealthRun& run, Ms now) {
  if (!run.id.empty() && run.id != run_.id) begin(run, now);
  // A run that has begun continues to its end, even if the node's records no longer name it: a node
  // of the control group knows the length of the run from its beginning.
  if (run.id == run_.id) run_.soaked = run_.soaked || run.soaked;
  consider(now);
}

// Begins a run. If the same rollout has asked this node of the control group before, the counts
// still begin with the node's first run for this rollout: only the first failure of such a node is
// compared.
void HealthWatch::begin(const HealthRun& run, Ms now) {
  if (run.by.empty() || run.by != run_.by) counts_at_begin_ = counts_;
  run_ = run;
  began_ = now;
  has_begun_measuring_ = has_measured_end_ = false;
  first_.clear();
  last_.clear();
  trouble_.clear();
}

bool HealthWatch::is_over(Ms now) const {
  return run_.by.empty() ? run_.soaked : now >= began_ + run_.soak_ms;
}

bool HealthWatch::is_settled(Ms now) const {
  return run_.id.empty() || (is_over(now) && (has_measured_end_ || !has_measures_));
}

bool HealthWatch::is_to_measure(Ms now) const {
  if (!has_measures_ || run_.id.empty() || has_measured_end_) return false;
  const Ms first = began_ + std::min(measure_first_ms, run_.soak_ms / 2);
  return is_over(now) || (!has_begun_measuring_ && now >= first);
}

void HealthWatch::measured(std::vector<Measure> measures, const std::string& trouble, Ms now) {
  if (is_over(now)) {
    last_ = changes(std::move(measures));
    has_measured_end_ = true;
  } else {
    first_ = std::move(measures);
    has_begun_measuring_ = true;
  }
  if (!trouble.empty()) trouble_ = trouble;
  consider(now);
}

// Fills in the change of each measure since the first measurement. If a counter is lower than it
// was then, it was reset to 0. It has therefore risen by at least its present value.
std::vector<Measure> HealthWatch::changes(std::vector<Measure> measures) const {
  for (Measure& measure : measures) {
    const auto before = std::find_if(first_.begin(), first_.end(), [&](const Measure& one) {
      return one.name == measure.name && one.type == measure.type;
    });
    if (before == first_.end()) continue;
    const double now = measured_number(measure.value).value_or(0);
    const double then = measured_number(before->value).value_or(0);
    const bool was_reset = measure.type == MeasureType::counter && now < then;
    measure.change = measured_text(was_reset ? now : now - then);
  }
  return measures;
}

// Writes the record again if something has happened that the judge of a rollout must know.
void HealthWatch::consider(Ms now) {
  if (run_.id.empty()) return;
  NodeHealth health{.run = run_.id,
                    .version = version_,
                    .boot_id = boot_id_,
                    .instance = instance_,
                    .sequence = sequence_ + 1,
                    .before = counts_at_begin_.all(),
                    .ends = counts_.ends - counts_at_begin_.ends,
                    .unhealthy = counts_.unhealthy - counts_at_begin_.unhealthy,
                    .fallbacks = counts_.fallbacks - counts_at_begin_.fallbacks,
                    .over = is_settled(now),
                    .trouble = trouble_,
                    .measures = last_};
  const bool is_ours = report_ && report_->run == run_.id;
  const bool begins = !is_ours && run_.judged;
  const bool fails = health.failures() > 0 && (!is_ours || report_->failures() == 0);
  const bool ends = health.over && (!is_ours || !report_->over);
  // If the rollout compares no nodes, the record is only for a person to read: the node writes it
  // only if there are measures or failures.
  const bool is_worth_it = run_.judged || is_ours || has_measures_ || fails;
  if (!begins && !fails && !(ends && is_worth_it)) return;
  sequence_ = health.sequence;
  report_ = std::move(health);
}

}  // namespace fleet
