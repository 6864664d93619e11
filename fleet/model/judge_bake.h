// Computes how strong the evidence is that the new version, which all nodes run by now, fails more
// often than the version before. Pure arithmetic; judge_watch.h counts the failures.
//
// During a bake, which follows the last batch of a rollout, every node has moved, so no control
// group is left. The nodes with the new version are compared with the failure rate that the control
// group had before, in two steps:
//
// 1. How high can the true rate of the control group be? For each rate L, the group's failures
//    give evidence, as in judge_evidence.h, that the true rate is lower than L. If this evidence
//    reaches 1/bake_alpha, L is ruled out. control_rate_max() is the lowest rate that is ruled out.
//    With a chance of at least 1 - bake_alpha the true rate is below it, at whatever moment the
//    comparison with the control group ended.
// 2. Do new nodes fail more often than at this rate L? Let k of them fail while their times at risk
//    add up to T. The likelihood ratio of a rate that is r times as high is r^k exp(-(r-1) L T).
//    The evidence is the mean of this over the ratios r of judge_evidence.h. If the rollout
//    tolerates a ratio of rates, L is multiplied by it first.
//
// This evidence is multiplied by that from the batches before the bake. The product is an e-process
// for the whole rollout. With 1/(alpha - bake_alpha) as its limit, a good version is stopped with a
// chance of at most alpha. This assumes that the version before would have failed as often during
// the bake as it did in the control group; the comparison of the batches does not need that.
//
//     the control was never seen      the logarithm is 0: there is no rate to compare with
//     the control has never failed    L is the rate at which about eight failures were expected
//     nobody fails during the bake    the evidence shrinks: a good bake takes back a doubt
#pragma once

#include <cstdint>

#include "fleet/model/time.h"

namespace fleet {

// The probability that control_rate_max() is too low: by luck, the control group may have failed
// less often than it would in the long run.
inline constexpr double bake_alpha = 0.001;

struct BakeCounts {
  std::int64_t control_failed = 0;  // how many nodes of the control group have failed
  Ms control_ms = 0;                // the times at risk of the control group's nodes, added up
  std::int64_t failed = 0;          // how many new nodes have failed during the bake
  Ms node_ms = 0;

  bool operator==(const BakeCounts&) const = default;
};

// Returns an upper bound for the control group's true rate of failures, in failures per node and
// millisecond. Returns 0 if the control group was never seen.
[[nodiscard]] double control_rate_max(std::int64_t failed, Ms node_ms);

// Returns the natural logarithm of the evidence that new nodes fail during the bake more than
// `tolerate` times as often as the control group did before.
[[nodiscard]] double log_bake_evidence(const BakeCounts& counts, double tolerate = 1);

}  // namespace fleet
