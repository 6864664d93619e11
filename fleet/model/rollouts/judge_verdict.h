// This file makes the judge's verdict on a batch, and a text for people that explains the verdict.
// A batch is confirmed, so that its nodes keep the new version, when the verdict is "well". A batch
// is also judged by the measures (numbers such as a latency) that the upgraded component reports
// about itself. This file does no input or output.
//
//     worse      the evidence against the new version has reached its limit (log_limit()). This may
//                happen at any time, and is final
//     well       not "worse", and the soak is over: each node of the batch has reported the end of
//                its soak or has failed. The rollout's drivers have seen the nodes at work for at
//                least judge_seen_min per cent of the soak
//     not known  in all other cases. Such a batch is not confirmed yet
//
// In two cases, too few nodes are compared for a verdict in time. The numbers are then only shown
// to people, and no batch waits for a verdict:
//
//     the rollout has fewer nodes than judge_nodes_min     there is no verdict
//     fewer than judge_control_min nodes of the control    the verdict can still be "worse", but
//     group are at risk in a larger rollout                not "well"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/rollout_records.h"
#include "fleet/model/rollouts/judge_evidence.h"

namespace fleet {

inline constexpr std::int64_t judge_nodes_min = 200;
inline constexpr std::int64_t judge_control_min = 20;
inline constexpr std::int64_t judge_control_max = 500;
// The verdict is "well" only if the nodes of the batch were seen to work for at least this
// percentage of their soak time. The soak times of all nodes are added up for this.
inline constexpr std::int64_t judge_seen_min = 80;

enum class Verdict { well, worse, not_known };
[[nodiscard]] std::string_view text_of(Verdict verdict);

// The numbers that the judge uses: the counts of the nodes with the new version, the counts of the
// control group (nodes with the old version), and the evidence that nodes with the new version fail
// more often.
struct Compared {
  CohortCount fresh = {};
  CohortCount control = {};
  double log_evidence = 0;
};

// The progress of the soak of the current batch. The soak is the time for which a new version must
// work on a node before it is confirmed there.
struct BatchSeen {
  bool is_soak_over = false;
  Ms seen_ms = 0;  // the part of soak_ms that the rollout's drivers have seen
  // The soak time of all nodes of the batch, added up: ten nodes that soak for a minute count as
  // ten minutes.
  Ms soak_ms = 0;
};

struct JudgeTerms {
  // The largest probability with which the comparison may stop a good version.
  double alpha = static_cast<double>(alpha_default) / million;
  double tolerate = 1;     // the tolerated ratio of failure rates; used only by judge_bake()
  std::int64_t nodes = 0;  // all nodes of the rollout
  NodeOrder order = NodeOrder::random;
};

struct Judgement {
  Verdict verdict = Verdict::not_known;
  bool is_waited_for = false;  // the batch is not confirmed before the verdict is `well`
  // A text for people. `new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100` means
  // that 3 of 51 nodes with the new version have failed at least once, and no node of the control
  // group. The evidence e = 325 has reached its limit of 100.
  std::string words = {};
};

[[nodiscard]] Judgement judge(const Compared& compared, const BatchSeen& seen,
                              const JudgeTerms& terms);

// Returns the verdict of a bake (the time after the last batch), which is `well` or `worse`, and
// its text for people, such as `bake: 3 failed first, 1.2 a node and day, the control at most 0.3:
// worse, e = 500 > 111`. Here 3 nodes have failed at least once during the bake, which is a rate of
// 1.2 failures for each node and day. The control group's rate is at most 0.3, and the evidence e
// has reached its limit of 111. `log_before` is the logarithm of the evidence from the batches
// before the bake.
[[nodiscard]] Judgement judge_bake(const BakeCounts& counts, double log_before,
                                   const JudgeTerms& terms);

// Returns the evidence as a string: `e = 32`, or `e = 325 > 100` if it has reached the limit. A
// number below 10 has two digits. Above a million, the text is `e > 1000000`. Both parameters are
// logarithms.
[[nodiscard]] std::string evidence_text(double log_evidence, double limit);

// Returns the allowed chance of stopping a good version by the judge's comparisons. This is the
// rollout's alpha; in a rollout with a bake, bake_alpha is subtracted from it: see
// judge_evidence.h.
[[nodiscard]] double alpha_of(const RolloutTerms& terms);

// Returns the ratio of failure rates that the rollout tolerates.
[[nodiscard]] double tolerate_of(const RolloutTerms& terms);

// Returns the number of nodes in the control group of a rollout to `nodes` nodes, or 0 if `nodes`
// is too small for a comparison.
[[nodiscard]] std::int64_t control_size(std::int64_t nodes);

// ---- the measures

// The following functions judge a rollout by measures: numbers, such as a latency or a count of
// errors, that the upgraded component reports about itself. A rollout is stopped if a measure gets
// worse more often on nodes with the new version than on nodes of the control group.
//
// For each batch and each measure, each node gives one number: the change of the measure over the
// soak. When the soak is over, the batch's numbers are compared once with those of the control
// group from the same time:
//
//     a gauge                   a node is worse if its change is worse than the median change of
//                               the control group: see chance_of_worse() in judge_evidence.h
//     a counter, worse down     a node is worse if its counter has risen less than the median
//     a counter, worse up       two comparisons are made, and the evidence is the mean of both. The
//                               first compares with the median, as above, and finds a counter that
//                               rises faster. The second finds a counter that should not rise at
//                               all: a node counts as failed if its counter has risen. The order of
//                               these failures is not known, so they are counted in a random order
//
// - The option --tolerate gives a ratio of failure rates. So it affects only the comparisons in
//   which nodes fail: `Cohorts`, the bake, and the second comparison of a counter.
// - A version that is as good as the version before is stopped with a chance of at most alpha. For
//   a version that fails exactly as often as is tolerated, this limit is approximate, since the
//   order in which counters have risen is not known.
// - The evidence of all batches is the mean of each batch's evidence, with the weights of
//   log_share_of_batch(). A weighted mean of e-processes is an e-process, too (judge_evidence.h).
// - The measures share one half of alpha (`measures_share`) in equal parts, and the comparison of
//   failures (`Cohorts`) has the other half. So measures and failures may depend on each other.
// - The measures are chosen once, at the rollout's first batch, from the reports of the control
//   group alone. A measure is chosen if it has a direction in which it gets worse, and if at least
//   measure_given_min per cent, and at least judge_control_min, of the group's nodes report its
//   change. If the new version no longer reports such a measure, the verdict cannot be "well".

// A measure is judged only if at least this percentage of the control group's nodes, and also of
// the batch's nodes, have reported how much the measure has changed.
inline constexpr std::int64_t measure_given_min = 80;
// The part of alpha (the allowed chance of stopping a good version) for all measures of a component
// together. The comparison of failures (judge_evidence.h) has the rest.
inline constexpr double measures_share = 0.5;

// One node's change of a measure. In a list of such changes, the order must not depend on the
// changes themselves, since the evidence from each change depends on the changes before it.
struct MeasuredChange {
  bool is_fresh = false;
  double change = 0;
};

// Returns the logarithm of the evidence, from the changes in one batch, that the measure is worse
// with the new version. Returns 0 if no node with the new version, or no node of the control group,
// has reported a change. `tolerate` is the tolerated ratio of failure rates. It has an effect only
// on a counter that gets worse when it rises.
[[nodiscard]] double log_evidence_of(MeasureType type, MeasureWorse worse,
                                     const std::vector<MeasuredChange>& changes,
                                     double tolerate = 1);

// A node that has reported its measures at the end of its soak.
struct MeasuredNode {
  std::string node = {};
  bool is_fresh = false;
  std::vector<Measure> measures = {};
};

// Returns the measures by which a rollout is to be judged. The choice depends only on the nodes of
// the control group.
[[nodiscard]] std::vector<JudgedMeasure> chosen_measures(const std::vector<MeasuredNode>& nodes);

// Judges one batch by `measure`, and writes the result into `measure`. Returns an empty string if
// the batch is judged. Otherwise returns why it cannot be judged yet: fewer than measure_given_min
// per cent of the nodes that have soaked (`fresh`) have reported a change of the measure. If fewer
// than judge_control_min nodes of the control group have reported a change, the batch adds no
// evidence, but counts as judged.
[[nodiscard]] std::string judge_measure(JudgedMeasure& measure,
                                        const std::vector<MeasuredNode>& nodes, std::int64_t fresh,
                                        std::int64_t batch, double tolerate = 1);

// Returns the limit for the logarithm of the evidence of one measure. `measures` is the number of
// measures. `alpha` is the allowed chance of stopping a good version: see alpha_of().
[[nodiscard]] double log_limit_of_measure(double alpha, std::size_t measures);

// Writes the current result of each measure into that measure's text. Returns the texts of the
// measures that are worse.
[[nodiscard]] std::string tell_measures(std::vector<JudgedMeasure>& measures, double alpha);

}  // namespace fleet
