#include "fleet/model/rollouts/judge_evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/model/rollouts/batch_draft.h"

namespace fleet {
namespace {

// Returns the logarithm of the mean of the likelihood ratios for all evidence_ratios. Each ratio
// compares two assumptions: failures come at `ratio` times the expected rate, or at the expected
// rate. `failed` failures were seen, and `expected` were expected. With `power` -1, 1/`ratio` is
// used in place of each `ratio`.
double log_mean(std::int64_t failed, double expected, int power) {
  double sum = -std::numeric_limits<double>::infinity();
  for (const double one : evidence_ratios) {
    const double ratio = power > 0 ? one : 1 / one;
    sum = log_sum(sum, static_cast<double>(failed) * std::log(ratio) - (ratio - 1) * expected);
  }
  return sum - std::log(static_cast<double>(evidence_ratios.size()));
}

}  // namespace

// Adds one observation to the logarithms of the likelihood ratios, one for each `ratio` in
// evidence_ratios. A likelihood ratio compares two assumptions: the new version fails `ratio` times
// as often as is tolerated, or exactly as often as is tolerated.
//
// The observation counts against the new version (`is_new`) with the probability `chance` under the
// second assumption. Under the first, the probability is chance * ratio / d, with d = 1 + chance *
// (ratio - 1). So the likelihood ratio is multiplied by ratio / d if `is_new` is true, and
// otherwise by 1 / d.
void Evidence::add(bool is_new, double chance) {
  if (!(chance > 0 && chance < 1)) return;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    const double ratio = evidence_ratios[i];
    logs_[i] -= std::log1p(chance * (ratio - 1));
    if (is_new) logs_[i] += std::log(ratio);
  }
}

double Evidence::log() const {
  double sum = -std::numeric_limits<double>::infinity();
  for (const double one : logs_)
    sum = log_sum(sum, one);
  return sum - std::log(static_cast<double>(logs_.size()));
}

double chance_of_new(const AtRisk& at_risk, double tolerate) {
  const double fresh = static_cast<double>(at_risk.fresh) * tolerate;
  const double all = fresh + static_cast<double>(at_risk.control);
  return all > 0 ? fresh / all : 0;
}

double chance_of_worse(std::int64_t controls, std::int64_t before, std::int64_t worse_before) {
  if (controls <= 0) return 0;
  // The control group's values divide the number line into controls + 1 intervals. If both versions
  // behave alike, a value of the new version lies in each interval with the same chance. It is
  // worse if it lies in one of the `above` intervals above the median. Of two middle values, the
  // upper one is the median.
  const std::int64_t above = (controls + 1) / 2;
  return static_cast<double>(above + worse_before) / static_cast<double>(controls + 1 + before);
}

double log_share_of_batch(std::int64_t batch) {
  const auto number = static_cast<double>(batch);
  return -std::log(number) - std::log1p(number);
}

double log_limit(double alpha, double share) {
  return -std::log(alpha) - std::log(share);
}

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  if (!std::isfinite(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// ---- the cohorts

Cohorts::Cohorts(double tolerate, const Evidence& evidence, std::int64_t fresh_failed,
                 std::int64_t control_failed)
    : tolerate_(tolerate),
      evidence_(evidence),
      fresh_{.nodes = fresh_failed, .failed = fresh_failed},
      control_{.nodes = control_failed, .failed = control_failed} {}

void Cohorts::enter(const std::string& node, Cohort cohort, Ms at, bool has_failed) {
  leave(node, at);
  const auto before = nodes_.find(node);
  const bool returns = before != nodes_.end() && before->second.cohort == cohort;
  Node& entered = nodes_[node];
  const bool failed = entered.failed || has_failed;
  entered = {.cohort = cohort, .is_over = failed, .failed = failed};
  if (!failed) add(node, at, {returns ? Change::returns : Change::enters, cohort});
}

void Cohorts::leave(const std::string& node, Ms at) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second.is_over) return;
  found->second.is_over = true;
  add(node, at, {Change::leaves, found->second.cohort});
}

void Cohorts::fail(const std::string& node, Ms at) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  const bool is_first = !found->second.is_over;
  found->second.is_over = found->second.failed = true;
  if (is_first) add(node, at, {Change::fails, found->second.cohort});
}

// Records that the node has entered its cohort, returned to it, left it or failed, at the time
// `at`. The next look() counts this change. If an earlier look() has already counted everything up
// to a time after `at` (seen_until_), the change gets that later time.
void Cohorts::add(const std::string& node, Ms at, Pending what) {
  pending_.emplace(Order{std::max(at, seen_until_), place_of("tie", node), number_++}, what);
}

void Cohorts::look(Ms now) {
  const Ms until = now - judge_delay_ms;
  while (!pending_.empty() && pending_.begin()->first.at <= until) {
    const auto next = pending_.extract(pending_.begin());
    pass_until(next.key().at);
    happen(next.mapped());
  }
  pass_until(until);
}

void Cohorts::pass_until(Ms at) {
  if (at <= seen_until_) return;
  for (CohortCount* count : {&fresh_, &control_})
    count->node_ms += count->at_risk * (at - seen_until_);
  seen_until_ = at;
}

void Cohorts::happen(const Pending& what) {
  CohortCount& count = of(what.cohort);
  if (what.change == Change::enters) ++count.nodes;
  if (what.change == Change::enters || what.change == Change::returns) {
    ++count.at_risk;
    return;
  }
  if (what.change == Change::fails) {
    ++count.failed;
    evidence_.add(what.cohort == Cohort::fresh,
                  chance_of_new({fresh_.at_risk, control_.at_risk}, tolerate_));
  }
  --count.at_risk;
}

const CohortCount& Cohorts::count(Cohort cohort) const {
  return cohort == Cohort::fresh ? fresh_ : control_;
}

// ---- the bake

double control_rate_max(std::int64_t failed, Ms node_ms) {
  if (node_ms <= 0) return 0;
  // Find the lowest expected number of failures that the evidence rules out, by bisection between
  // `low` and `high`. This works since the evidence grows with the expected number, as soon as that
  // number is above the observed one.
  double low = static_cast<double>(failed);
  double high = 2 * low + 1;
  const double limit = -std::log(bake_alpha);
  while (log_mean(failed, high, -1) < limit)
    high *= 2;
  constexpr int steps = 60;
  for (int i = 0; i < steps; ++i) {
    const double middle = (low + high) / 2;
    (log_mean(failed, middle, -1) < limit ? low : high) = middle;
  }
  return high / static_cast<double>(node_ms);
}

double log_bake_evidence(const BakeCounts& counts, double tolerate) {
  const double rate = tolerate * control_rate_max(counts.control_failed, counts.control_ms);
  if (rate <= 0) return 0;
  return log_mean(counts.failed, rate * static_cast<double>(counts.node_ms), 1);
}

}  // namespace fleet
