#include "fleet/model/judge_evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fleet {

// Adds one observation to the logarithm for each ratio. With r = tau * ratio and p = p(tau) =
// `chance`, a new node adds log p(r)/p(tau), and a node of the control group log
// (1-p(r))/(1-p(tau)). These are log ratio/d and log 1/d, with d = 1 + p (ratio - 1).
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
  // The control group's values divide all possible values into controls + 1 intervals. This is how
  // many of the intervals are above the median. If there are two medians, the upper one is meant.
  const std::int64_t above = (controls + 1) / 2;
  return static_cast<double>(above + worse_before) / static_cast<double>(controls + 1 + before);
}

double log_share_of_batch(std::int64_t batch) {
  const auto number = static_cast<double>(batch);
  return -std::log(number) - std::log(number + 1);
}

double log_limit(double alpha, double share) {
  return -std::log(alpha) - std::log(share);
}

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  if (!std::isfinite(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

}  // namespace fleet
