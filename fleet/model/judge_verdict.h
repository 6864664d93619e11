// Makes the judge's verdict on a batch, by which the batch is confirmed or not, and the verdict's
// text. Pure.
//
//     well       the soak is over, every node has reported its end or has failed, enough of the
//                soak was seen, and nothing is worse
//     worse      the evidence has passed its limit; this may happen at any time, and is final
//     not known  everything else; it never counts as "well"
//
// In a rollout to fewer nodes than judge_nodes_min, or with fewer than judge_control_min nodes in
// the control group, failures are too few for a verdict in time. Then the numbers are shown, and no
// batch waits for a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/judge_evidence.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

inline constexpr std::int64_t judge_nodes_min = 200;
inline constexpr std::int64_t judge_control_min = 20;
inline constexpr std::int64_t judge_control_max = 500;
// In per cent of the soak, added up over all nodes of the batch: the verdict is "well" only if the
// nodes were seen to work for at least this part.
inline constexpr std::int64_t judge_seen_min = 80;

enum class Verdict { well, worse, not_known };
[[nodiscard]] std::string_view text_of(Verdict verdict);

// The numbers that the judge compares: the counts of the nodes with the new version, those of the
// control group, and the evidence that nodes with the new version fail more often.
struct Compared {
  CohortCount fresh = {};
  CohortCount control = {};
  double log_evidence = 0;
};

// The facts about the soak of the batch under way.
struct BatchSeen {
  bool is_soak_over = false;
  std::vector<std::string> missing = {};  // nodes that have not reported the end of their soak
  Ms seen_ms = 0;                         // how much of soak_ms this controller has seen
  // The soaks of all nodes of the batch, added up, in node-milliseconds.
  Ms soak_ms = 0;
};

struct JudgeTerms {
  // The largest probability that this comparison stops a good version.
  double alpha = static_cast<double>(alpha_default) / million;
  double tolerate = 1;     // the ratio of failure rates that is tolerated: only for judge_bake()
  std::int64_t nodes = 0;  // all nodes of the rollout
  NodeOrder order = NodeOrder::random;
};

struct Judgement {
  Verdict verdict = Verdict::not_known;
  bool is_waited_for = false;
  // The verdict as a text: `new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100`.
  std::string words = {};
};

[[nodiscard]] Judgement judge(const Compared& compared, const BatchSeen& seen,
                              const JudgeTerms& terms);

// Returns the verdict of a bake, which is `well` or `worse`, and its text: `bake: 3 failed first,
// 1.2 a node and day, the control at most 0.3: worse, e = 500 > 111`. No batch waits for this
// verdict. `log_before` is the logarithm of the evidence from the batches before the bake.
[[nodiscard]] Judgement judge_bake(const BakeCounts& counts, double log_before,
                                   const JudgeTerms& terms);

// Returns the evidence as a text: `e = 32`, or `e = 325 > 100` if it has reached the limit. A
// number below 10 has two digits, so that people see how far away the limit is. Above a million,
// the text is `e > 1000000`. Both parameters are logarithms.
[[nodiscard]] std::string evidence_text(double log_evidence, double limit);

// Returns the part of the rollout's alpha that the comparisons may use. In a rollout with a bake,
// bake_alpha is taken from it: see judge_evidence.h.
[[nodiscard]] double alpha_of(const RolloutTerms& terms);

// Returns the ratio of failure rates that the rollout tolerates.
[[nodiscard]] double tolerate_of(const RolloutTerms& terms);

// Returns the number of nodes in the control group of a rollout to `nodes` nodes, or 0 if these are
// too few to compare.
[[nodiscard]] std::int64_t control_size(std::int64_t nodes);

}  // namespace fleet
