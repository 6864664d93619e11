// Makes the judge's verdict on a batch, which decides whether the batch is confirmed, and the
// verdict's words. Pure.
//
//     well       the soak is over, every node has reported its end or has failed, enough of the
//                soak was seen, and nothing is worse
//     worse      the evidence has passed its limit; this may happen at any time, and is for good
//     not known  everything else; it never counts as well
//
// With fewer nodes than judge_nodes_min, or a control of fewer than judge_control_min, numbers
// cannot tell anything in time: they are shown, and nobody waits for a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/judge_cohorts.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

inline constexpr std::int64_t judge_nodes_min = 200;
inline constexpr std::int64_t judge_control_min = 20;
inline constexpr std::int64_t judge_control_max = 500;
// The least share of a batch's node-minutes, in per cent, that must have been seen for the verdict
// "well".
inline constexpr std::int64_t judge_seen_min = 80;

enum class Verdict { well, worse, not_known };
[[nodiscard]] std::string_view text_of(Verdict verdict);

// The numbers that the judge compares: how many nodes with the new version have failed, how many of
// the control, which has the old one, and the evidence that the new ones fail more often.
struct Compared {
  CohortCount fresh = {};
  CohortCount control = {};
  double log_evidence = 0;
};

// The facts that are known about the batch under way.
struct BatchSeen {
  bool is_soak_over = false;
  std::vector<std::string> missing = {};  // nodes that have neither reported their end nor failed
  Ms seen_ms = 0;                         // node-milliseconds of the soak that were seen
  Ms soak_ms = 0;                         // node-milliseconds of the whole soak
};

struct JudgeTerms {
  double alpha = 0.01;
  double share = 1;        // the share of alpha for these counters
  std::int64_t nodes = 0;  // all nodes of the rollout
  NodeOrder order = NodeOrder::random;
};

struct Judgement {
  Verdict verdict = Verdict::not_known;
  bool is_waited_for = false;
  // The verdict for people: `new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100`.
  std::string words = {};
};

[[nodiscard]] Judgement judge(const Compared& compared, const BatchSeen& seen,
                              const JudgeTerms& terms);

// Returns the size of the control in a rollout to `nodes` nodes: the control are the nodes that
// move last. Returns 0 if the rollout has too few nodes.
[[nodiscard]] std::int64_t control_size(std::int64_t nodes);

}  // namespace fleet
