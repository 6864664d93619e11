#include "fleet/model/judge_bake.h"

#include <cmath>
#include <limits>

#include "fleet/model/judge_evidence.h"

namespace fleet {
namespace {

// Returns the logarithm of the likelihood ratio of two assumptions, for `failed` failures: that
// failures come at `ratio` times the expected rate, and that they come at the expected rate. The
// result is the mean over all ratios of judge_evidence.h. If `power` is -1, the inverse of each
// ratio is used.
double log_mean(std::int64_t failed, double expected, int power) {
  double sum = -std::numeric_limits<double>::infinity();
  for (const double one : evidence_ratios) {
    const double ratio = power > 0 ? one : 1 / one;
    sum = log_sum(sum, static_cast<double>(failed) * std::log(ratio) - (ratio - 1) * expected);
  }
  return sum - std::log(static_cast<double>(evidence_ratios.size()));
}

}  // namespace

double control_rate_max(std::int64_t failed, Ms node_ms) {
  if (node_ms <= 0) return 0;
  // Find, by bisection between `low` and `high`, the lowest expected number of failures that the
  // evidence rules out. Bisection works, since the evidence against an expected number above the
  // observed one grows with the expected number.
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
