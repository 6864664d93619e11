// The evidence that a version which all nodes run by now fails more often than the version before.
// Pure arithmetic; judge_watch.h counts the failures.
//
// During a bake no node is left that has not moved, so new nodes are compared with the failure rate
// of the control as it was recorded while there was one. Failures of the control at a rate of at
// most L are an e-process in the same way as judge_evidence.h has it, and the rates L that its
// evidence rules out are too high. So with a chance of at least 1 - bake_alpha, the true rate is
// below control_rate_max(), at whatever moment the control ended. The failures of new nodes are
// then compared with that rate: after k failures in the time T of nodes at risk, the likelihood
// ratio of a rate r times as high is r^k exp(-(r-1) L T), and the evidence is its mean over the
// ratios of judge_evidence.h.
//
// The product with the evidence of the comparison before is one process for the whole rollout. If
// it is held against 1/(alpha - bake_alpha), a good version is stopped with a chance of at most
// alpha. This needs one assumption more than the comparison before: the version before would have
// failed as often during the bake as it did while it was the control.
//
//     the control was never seen      0: there is no rate to compare with
//     the control has never failed    the highest rate is that at which about eight would have
//     nobody fails during the bake    evidence shrinks: a good bake takes back a doubt
#pragma once

#include <cstdint>

#include "fleet/model/time.h"

namespace fleet {

// The chance that is allowed for a control that failed less often than it would in the long run.
inline constexpr double bake_alpha = 0.001;

struct BakeCounts {
  std::int64_t control_failed = 0;  // first failures of the control, and
  Ms control_ms = 0;                // the time of its nodes at risk, added up
  std::int64_t failed = 0;          // the same of new nodes during the bake
  Ms node_ms = 0;

  bool operator==(const BakeCounts&) const = default;
};

// Returns the highest rate of failures a millisecond that the control leaves possible; 0 if the
// control was never seen.
[[nodiscard]] double control_rate_max(std::int64_t failed, Ms node_ms);

// Returns the natural logarithm of the evidence.
[[nodiscard]] double log_bake_evidence(const BakeCounts& counts);

}  // namespace fleet
