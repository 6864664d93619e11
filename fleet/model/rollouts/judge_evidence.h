// This file computes the evidence that a new version does worse than the version before: a number
// that begins at 1 and grows with the failures of the new version. `Cohorts` decides which nodes
// are compared. log_bake_evidence() continues the comparison after all nodes have moved to the new
// version. judge_verdict.h draws the conclusion. This file does no input or output.
//
// The evidence is an *e-process*. If the versions are alike, the chance that it ever reaches N is
// at most 1/N, however often it is computed (Ville's inequality). The judge stops the rollout when
// the evidence reaches 1/alpha. So a good version is stopped with a chance of at most alpha, over
// the whole rollout.
//
// The first failures of nodes are compared with the safe logrank test: J. ter Schure, M. F.
// Perez-Ortiz, A. Ly, P. Grünwald, "The Safe Logrank Test", arXiv:2011.06931. A node is at risk
// while it is compared and has not failed. The control group is nodes that still run the old
// version. At each first failure, let Y1 be the number of nodes at risk that have the new version,
// and Y0 the number of nodes at risk in the control group. Let r be the failure rate of the new
// version divided by that of the control group. Then the chance that the failed node has the new
// version is
//
//     p(r) = Y1 r / (Y1 r + Y0)
//
// Let tau be the ratio of failure rates that the rollout tolerates. The evidence is multiplied by
// p(r)/p(tau) if the failed node has the new version, and by (1-p(r))/(1-p(tau)) if it belongs to
// the control group. The true ratio r is not known, so the evidence is the mean over ratios from
// 1.5 tau to 200 tau; the mean of e-processes is an e-process, too. If the true ratio is smaller
// than tau, each of these e-processes shrinks on average. So the chance of a wrong stop is limited
// for every ratio up to tau.
//
// This method assumes that new and control nodes were chosen in a random order, and that every node
// is at risk from the beginning of the rollout until its first failure. Failure rates may differ
// from node to node and change with time. In a rollout in the order of the nodes' names, the limit
// holds only if the names are unrelated to failures: see judge_verdict.h.
//
// The evidence behaves as follows. The cohorts are the nodes with the new version, and the control
// group:
//
//     no node has failed          the evidence is 1
//     one cohort has no node      a failure does not change the evidence
//     at risk
//     cohorts of unequal size     p(r) depends on both sizes. If a single new node is compared with
//                                 500 control nodes, and fails, the evidence is 30
//     a cohort of one node        the failure of this node cannot raise the evidence to 100, the
//                                 limit for alpha = 0.01
//     a node reports failures     at most one failure of this node counts, which is not enough to
//     that it did not have        stop a rollout
//     a node reports late, twice  a failure counts once, when the driver learns of it. A node is at
//     or never                    risk only as long as it reports: see Cohorts
//
// Values are kept as logarithms, so that they do not overflow, even after 10,000 failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fleet/model/records/time.h"

namespace fleet {

// The evidence is the mean of the likelihood ratios for these ratios of failure rates, which are
// multiples of the tolerated ratio. The ratios up to 20 are close together, since a rollout with
// many failures can tell small ratios apart. The largest ratio stands for a version that fails
// everywhere.
inline constexpr std::array evidence_ratios = {1.5, 2.0, 3.0, 5.0, 9.0, 20.0, 60.0, 200.0};

class Evidence {
 public:
  using Logs = std::array<double, evidence_ratios.size()>;

  Evidence() = default;
  // Continues from the logarithms of an earlier Evidence, which logs() has returned, for example in
  // another controller.
  explicit Evidence(const Logs& logs) : logs_(logs) {}

  // Adds one observation: the failure of a node with the new version (`is_new`) or of a control
  // node, or a measured value that is worse (`is_new`) or not. `chance` is the probability that
  // `is_new` is true if the new version is exactly as bad as is tolerated: see chance_of_new() and
  // chance_of_worse(). If `chance` is exactly 0 or 1, the evidence does not change.
  void add(bool is_new, double chance);

  // Returns the natural logarithm of the evidence: 0 at the beginning.
  [[nodiscard]] double log() const;
  [[nodiscard]] const Logs& logs() const { return logs_; }

 private:
  Logs logs_ = {};  // the logarithm of the evidence for each ratio
};

// When a node fails: how many nodes are compared and have not failed before, with the new version
// (`fresh`) and in the control group. The failing node itself counts.
struct AtRisk {
  std::int64_t fresh = 0;
  std::int64_t control = 0;
};

// Returns the probability that the next node that fails has the new version, if nodes with the new
// version fail `tolerate` times as often as nodes of the control group.
[[nodiscard]] double chance_of_new(const AtRisk& at_risk, double tolerate);

// Returns the chance that the next node is worse by a gauge (a measured value, such as a latency)
// if both versions behave alike. In each batch, each node gives one number: the change of the gauge
// over the node's soak. A node is *worse* if its change is worse than the median change of the
// control group's nodes in the same time.
//
// Let m be the number of control nodes (`controls`), n the number of nodes that were compared
// before (`before`), and a the number of those that were worse (`worse_before`). Then:
//
//     chance of the next = (m/2 + a) / (m + 1 + n)      (if m is odd: (m+1)/2 in place of m/2)
//
// This is the formula of Pólya's urn. It is exact if all values are exchangeable and no two values
// are equal. Equal values count as not worse, which can only weaken the evidence.
//
// A chance of one half for every node would be wrong, since the median of a few hundred nodes is
// only an estimate. If the control nodes change in every batch as they did in the batch before, a
// judge with one half stops good versions three times as often as is allowed. `by_half` in
// tests/together/fleet/judge_world.h simulates this judge.
[[nodiscard]] double chance_of_worse(std::int64_t controls, std::int64_t before,
                                     std::int64_t worse_before);

// Returns the logarithm of a batch's share in the evidence of a gauge. The batches of a rollout are
// compared with the same control nodes, so they are not independent. Therefore the evidence is a
// weighted mean over the batches. The weight of the b-th batch, from 1, is 1/(b(b+1)): the weights
// add up to less than 1.
[[nodiscard]] double log_share_of_batch(std::int64_t batch);

// Returns the logarithm at which the evidence of one comparison (of failures, or of one measure)
// makes the verdict "worse". alpha is the allowed chance of stopping a good version, and `share` is
// the part of alpha for this comparison. If all shares add up to at most 1, a good version is
// stopped with a chance of at most alpha, even if the comparisons depend on each other.
[[nodiscard]] double log_limit(double alpha, double share);

// Returns log(e^a + e^b). a and b may be minus infinity, which stands for the logarithm of 0.
[[nodiscard]] double log_sum(double a, double b);

// ---- the cohorts

// Keeps the two groups of nodes, called cohorts, whose failures a rollout compares: the nodes that
// run the new version, and the control group, which runs the old one. A node is at risk while it is
// compared and has not failed. This class counts the first failure of each node at risk, and
// computes the evidence from these failures.
//
//     a failure becomes known late       the failure counts from the moment when it is known
//     a node is silent                   nothing is counted, unless the caller counts the silence
//                                        as a failure by fail(), or ends the comparison by leave()
//     a node fails again and again       only its first failure counts
//     a node has failed before it has    the node is not compared any more, even after the move
//     moved to the new version
//
// All times are measured by the clock of the driver, the controller that steers the rollout. look()
// waits before it counts a change, so that the reports of both cohorts have had time to arrive.

// look() counts a failure or another change of a node only after this time, so that late reports
// can still arrive.
inline constexpr Ms judge_delay_ms = 90'000;
// A node is not compared in its first minute, since every program is busier just after its start.
inline constexpr Ms judge_first_ms = 60'000;

enum class Cohort { fresh, control };

// The counts of one cohort (the nodes with the new version, or the control group), as of the last
// look().
struct CohortCount {
  std::int64_t nodes = 0;   // how many nodes were ever compared in this cohort
  std::int64_t failed = 0;  // how many of these nodes have failed; each counts once
  std::int64_t at_risk = 0;
  Ms node_ms = 0;  // for how long all nodes together were compared and had not failed

  bool operator==(const CohortCount&) const = default;
};

class Cohorts {
 public:
  explicit Cohorts(double tolerate) : tolerate_(tolerate) {}
  // Continues from the findings of an earlier driver: its evidence, and how many nodes of each
  // cohort have failed. The caller then calls enter() for all nodes again, with `has_failed` for
  // each node that has failed, so that no failure is counted twice.
  Cohorts(double tolerate, const Evidence& evidence, std::int64_t fresh_failed,
          std::int64_t control_failed);

  // Adds the node to this cohort from the time `at` on. If the node is in a cohort already, it
  // leaves that cohort first. A node that was in the same cohort before is not counted again in
  // CohortCount::nodes. If `has_failed` is true, the node has already failed, and is not compared.
  void enter(const std::string& node, Cohort cohort, Ms at, bool has_failed);
  // Ends the comparison of the node without a failure, for example if the node moves to another
  // version, or is silent together with many others. Until enter() is called again, its failures do
  // not count.
  void leave(const std::string& node, Ms at);
  // Records a failure of the node. look() counts it only after judge_delay_ms.
  void fail(const std::string& node, Ms at);

  // Counts the changes (a node has entered a cohort, left it or failed) that happened at least
  // judge_delay_ms before `now`. Later changes are counted by a later call.
  void look(Ms now);

  // Returns the counts of this cohort, as of the last look().
  [[nodiscard]] const CohortCount& count(Cohort cohort) const;
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }

 private:
  enum class Change { enters, returns, leaves, fails };
  struct Node {
    Cohort cohort = Cohort::fresh;
    bool is_over = false;  // the node is not compared any more: it has failed or left
    bool failed = false;
  };
  struct Pending {
    Change change = Change::enters;
    Cohort cohort = Cohort::fresh;
  };
  // Changes are counted in the order of their times. If two times are equal, `place`, a hash of the
  // node's name, decides, so that neither group of nodes always comes first.
  struct Order {
    Ms at = 0;
    std::uint64_t place = 0;
    std::uint64_t number = 0;

    auto operator<=>(const Order&) const = default;
  };

  void add(const std::string& node, Ms at, Pending what);
  void happen(const Pending& what);
  void pass_until(Ms at);
  [[nodiscard]] CohortCount& of(Cohort cohort) {
    return cohort == Cohort::fresh ? fresh_ : control_;
  }

  double tolerate_;
  Evidence evidence_;
  CohortCount fresh_;
  CohortCount control_;
  std::map<std::string, Node> nodes_;
  std::map<Order, Pending> pending_;
  std::uint64_t number_ = 0;
  Ms seen_until_ = 0;
};

// ---- the bake

// The following functions judge the new version during a bake, the time after the last batch. All
// nodes have moved then, so no control group is left. Their failures (see judge_watch.h) are
// compared with the failure rate that the control group had before, in two steps:
//
// 1. How high can the true failure rate of the control group have been? For each rate L, the
//    group's failures give evidence, of the same kind as in `Evidence`, that the true rate is
//    lower than L. If this evidence reaches 1/bake_alpha, L is ruled out, and so are all higher
//    rates. control_rate_max() is the lowest rate that is ruled out. With a chance of at
//    least 1 - bake_alpha, the true rate is lower, at whatever moment the comparison with the
//    control group ended.
// 2. Do nodes with the new version fail more often than at the rate M? M is control_rate_max()
//    times the ratio of rates that the rollout tolerates. Let k nodes fail while the times at risk
//    of all nodes add up to T. For a rate of r M in place of M, the likelihood ratio is
//    r^k exp(-(r-1) M T). The evidence is the mean of this likelihood ratio over all r in
//    evidence_ratios.
//
// The product of this evidence and that of the batches is an e-process for the whole rollout. The
// rollout is stopped if it reaches 1/(alpha - bake_alpha), so a good version is stopped with a
// chance of at most alpha. This assumes that the version before would have failed as often during
// the bake as it did in the control group. The comparison of the batches needs no such assumption.
//
//     the control group was never seen  the evidence is 1 (its logarithm is 0), since there is no
//                                       rate to compare with
//     no control node has failed        M is the rate at which about eight failures would have been
//                                       expected while the control group was watched
//     no node fails during the bake     the evidence shrinks: a good bake reduces earlier doubts

// The allowed probability that control_rate_max() is too low: by luck, the control group may have
// failed less often than it would in the long run.
inline constexpr double bake_alpha = 0.001;

struct BakeCounts {
  std::int64_t control_failed = 0;  // how many nodes of the control group have failed
  Ms control_ms = 0;                // the control nodes' time without a failure, added up
  std::int64_t failed = 0;          // how many new nodes have failed during the bake
  Ms node_ms = 0;

  bool operator==(const BakeCounts&) const = default;
};

// Returns an upper bound for the control group's true rate of failures, in failures per node and
// millisecond. Returns 0 if the control group was never seen.
[[nodiscard]] double control_rate_max(std::int64_t failed, Ms node_ms);

// Returns the natural logarithm of the evidence that, during the bake, nodes with the new version
// fail more than `tolerate` times as often as the control group did before.
[[nodiscard]] double log_bake_evidence(const BakeCounts& counts, double tolerate = 1);

}  // namespace fleet
