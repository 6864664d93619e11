// Judges a rollout by measures, such as latency or a count of errors, that the upgraded component
// reports about itself. Decides whether they have become worse on more nodes with the new version
// than on nodes of the control group. Pure.
//
// Each node gives one number a batch for each measure: its change over the soak. The numbers of the
// batch's nodes and of the control group at the same time are compared once, when the soak is over:
//
//     a gauge                   a node is worse if its change is worse than the median change of
//                               the control group: see chance_of_worse() in judge_evidence.h
//     a counter, worse down     a node is worse if its counter has risen less than the median
//     a counter, worse up       the mean of the evidence of two comparisons. The first, as above,
//                               finds a counter that rises faster. The second finds a counter that
//                               should not rise at all: a node has failed if its counter has risen.
//                               The nodes are compared in a random order, so it does not matter
//                               when the counters have risen
//
// --tolerate is a ratio of failure rates, so it has an effect only on the comparison by first
// failures. A version that is as good as the one before is stopped with a chance of at most alpha,
// however large a ratio is tolerated. For a version that fails as often as is tolerated this is
// only about true, since the comparison does not know the order of the failures.
//
// A weighted mean of e-processes is an e-process, too. So the evidence of all batches is the mean
// of the evidence of each, with the weights of log_share_of_batch(). The measures share one half of
// alpha (`own_share`) in equal parts, and the failures of `Cohorts` have the other half. The
// measures and the failures need not be independent for that.
//
// The measures by which a rollout is judged are chosen once, at its first batch, from the control
// group alone: those that at least measure_given_min per cent of the control group's nodes give,
// and that have a direction in which they get worse. A version that no longer gives such a measure
// is not known to be good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"

namespace fleet {

// In per cent: a measure is judged only if at least this part of the control group's nodes, and of
// the batch's nodes, have reported a change of it.
inline constexpr std::int64_t measure_given_min = 80;
// The part of alpha (the allowed chance of stopping a good version) that all measures of a
// component share. The comparison of failures (judge_evidence.h) has the rest.
inline constexpr double own_share = 0.5;

// One node's change of a measure. The nodes must come in an order that does not depend on their
// changes.
struct MeasuredChange {
  bool is_fresh = false;
  double change = 0;
};

// Returns the logarithm of the evidence from one batch that the measure is worse with the new
// version. Returns 0 if no new node or no control node has reported a change. `tolerate` is the
// tolerated ratio of first failures.
[[nodiscard]] double log_evidence_of(MeasureType type, MeasureWorse worse,
                                     const std::vector<MeasuredChange>& changes,
                                     double tolerate = 1);

// A node that has reported its measures at the end of its soak.
struct MeasuredNode {
  std::string node = {};
  bool is_fresh = false;
  std::vector<Measure> measures = {};
};

// Returns the measures by which a rollout is to be judged. They depend only on the nodes of the
// control group.
[[nodiscard]] std::vector<JudgedMeasure> chosen_measures(const std::vector<MeasuredNode>& nodes);

// Judges one batch by `measure`, and writes the result into `measure`. `fresh` is how many nodes of
// the batch have soaked. Returns why the batch cannot be judged, or an empty text if it can. If the
// control group has fewer than judge_control_min nodes, the batch is not judged, and the text in
// `measure` says so.
[[nodiscard]] std::string judge_measure(JudgedMeasure& measure,
                                        const std::vector<MeasuredNode>& nodes, std::int64_t fresh,
                                        std::int64_t batch, double tolerate = 1);

// Returns the limit for the logarithm of the evidence of one measure, if there are `measures`
// measures. `alpha` is the result of alpha_of() for the rollout.
[[nodiscard]] double log_limit_of_measure(double alpha, std::size_t measures);

// Writes the present result of each measure into that measure's text. Returns the texts of the
// measures that are worse.
[[nodiscard]] std::string tell_measures(std::vector<JudgedMeasure>& measures, double alpha);

}  // namespace fleet
