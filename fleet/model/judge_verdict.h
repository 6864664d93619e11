// The judge's verdict on a batch, for the decision whether it is confirmed, and its words. Pure.
//
//     well       the soak is over, every node has told of its end or has failed, enough of the soak
//                was seen, and nothing is worse
//     worse      the evidence has passed its limit: at any time, and for good
//     not known  everything else; it never counts as well
//
// With fewer nodes than judge_nodes_min, or a control of fewer than judge_control_min, there is
// nothing that numbers could tell in time: the numbers are shown, and nobody waits for a verdict.
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
// For the verdict "well", at least so many per cent of a batch's node-minutes must have been seen.
inline constexpr std::int64_t judge_seen_min = 80;

enum class Verdict { well, worse, not_known };
[[nodiscard]] std::string_view text_of(Verdict verdict);

// The two cohorts as Cohorts has counted them, and the evidence.
struct Compared {
  CohortCount fresh = {};
  CohortCount control = {};
  double log_evidence = 0;
};

// How much is known of the batch under way.
struct BatchSeen {
  bool is_soak_over = false;
  std::vector<std::string> missing = {};  // that have neither told of their end nor failed
  Ms seen_ms = 0;                         // node-milliseconds of the soak that were seen
  Ms soak_ms = 0;                         // and that there are
};

struct JudgeTerms {
  double alpha = 0.01;
  double share = 1;        // of alpha, for these counters
  std::int64_t nodes = 0;  // of the rollout
  NodeOrder order = NodeOrder::random;
};

struct Judgement {
  Verdict verdict = Verdict::not_known;
  bool is_waited_for = false;
  std::string words = {};  // `new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100`
};

[[nodiscard]] Judgement judge(const Compared& compared, const BatchSeen& seen,
                              const JudgeTerms& terms);

// How many nodes that move last are the control of a rollout of so many; 0: none, since it has too
// few nodes.
[[nodiscard]] std::int64_t control_size(std::int64_t nodes);

}  // namespace fleet
