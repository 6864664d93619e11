// Computes how strong the evidence is that a new version does worse than the one before. The result
// is a number that is valid at any time, however often it is computed. Pure arithmetic:
// judge_cohorts.h says which nodes are compared, and judge_verdict.h draws the conclusion.
//
// The number is an *e-process*: it begins at 1, and if the versions are alike, the chance that it
// ever reaches N is at most 1/N, however often it is looked at (Ville's inequality). So a judge
// that stops at 1/alpha stops a good version with a chance of at most alpha, over the whole
// rollout.
//
// First failures are compared by the safe logrank test: J. ter Schure, M. F. Perez-Ortiz, A. Ly, P.
// Grünwald, "The Safe Logrank Test", arXiv:2011.06931. At each first failure, Y1 nodes of the new
// version and Y0 nodes of the control group are at risk. Let r be the ratio of the failure rates of
// the two. Then the chance that the failed node has the new version is
//
//     p(r) = Y1 r / (Y1 r + Y0)
//
// Let tau be the ratio that is tolerated. The evidence is multiplied by p(r)/p(tau) if the failed
// node has the new version, and by (1-p(r))/(1-p(tau)) if it belongs to the control group. Ratios
// are not known, so the evidence is the mean over ratios from 1.5 tau to 200 tau. The mean of
// e-processes is an e-process, too. If the true ratio is smaller than tau, each of them only
// shrinks, so the limit for the chance of a wrong stop holds for every ratio up to tau.
//
// This assumes that new and control nodes were drawn without a look at the nodes (in a random
// order), and that every node is at risk from the same moment, when the rollout began, until its
// first failure. Failure rates may differ from node to node and change with time. If the nodes come
// in the order of their names, the limit for the chance of a wrong stop holds only if the names are
// unrelated to failures: see judge_verdict.h.
//
// How it behaves:
//
//     no node has failed          the evidence stays 1, however long no node fails
//     no control, or no new node  a failure changes nothing
//     cohorts of unequal size     p allows for the sizes. If a single new node is compared with
//                                 500 of the control, and fails, the evidence is 30
//     a cohort of one node        its one failure cannot reach 100, the limit for alpha = 0.01
//     a node lies                 its failure counts once, and one failure is not enough
//     reports late, twice, never  judge_cohorts.h: a failure is counted once, when it is known, and
//                                 a node is at risk only as long as it is seen
//
// Values are kept as logarithms, so that neither 10,000 failures nor none of them overflow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fleet {

// The ratios over which the evidence is the mean, as multiples of the tolerated ratio. Up to 20,
// neighbours differ by a factor of about two at most, since a rollout may have enough failures to
// tell them apart. The largest stands for a version that fails everywhere.
inline constexpr std::array evidence_ratios = {1.5, 2.0, 3.0, 5.0, 9.0, 20.0, 60.0, 200.0};

class Evidence {
 public:
  using Logs = std::array<double, evidence_ratios.size()>;

  Evidence() = default;
  // Continues from the logarithms that logs() returned in the controller that drove the rollout
  // before.
  explicit Evidence(const Logs& logs) : logs_(logs) {}

  // Adds one observation: something happened to a new node (`is_new`) or to a node of the control
  // group. `chance` is the probability that it happens to a new node, if the ratio is the tolerated
  // one. A chance of exactly 0 or 1 changes nothing.
  void add(bool is_new, double chance);

  // Returns the natural logarithm of the evidence: 0 at the beginning.
  [[nodiscard]] double log() const;
  [[nodiscard]] const Logs& logs() const { return logs_; }

 private:
  Logs logs_ = {};  // the logarithm of the evidence for each ratio
};

// The number of nodes that are at risk when a node fails, including that node: new ones, and those
// of the control group.
struct AtRisk {
  std::int64_t fresh = 0;
  std::int64_t control = 0;
};

// Returns the probability that the next node that fails is a new one, if new nodes fail `tolerate`
// times as often as those of the control group.
[[nodiscard]] double chance_of_new(const AtRisk& at_risk, double tolerate);

// Returns the chance that the gauge of the next node is worse, if the versions are alike. A gauge
// has a value and no failures. Each node gives one number for each batch: the gauge's change over
// the soak. A node is *worse* if its change is worse than the median change of the control group's
// nodes in the same time. For the first node this chance is one half. For further nodes it depends
// on the nodes before, since the median is only an estimate from a few hundred values. After n
// nodes, of which a were worse, and with m control nodes:
//
//     chance of the next = (m/2 + a) / (m + 1 + n)      (rounded down above, m odd: (m+1)/2)
//
// This is Pólya's urn, exact if all values are exchangeable and none are equal. Equal values count
// as not worse, which only takes evidence away. A chance of one half for every node would ignore
// that the median of 500 is itself an estimate. If control nodes change in every batch as they did
// before, the judge would then err three times as often as is allowed (`make judge`).
[[nodiscard]] double chance_of_worse(std::int64_t controls, std::int64_t before,
                                     std::int64_t worse_before);

// Returns the logarithm of a batch's share in the evidence of a gauge. The batches of a rollout are
// compared with the same control nodes, so they are not independent. Therefore the evidence is a
// weighted mean over the batches. The weight of the b-th batch, from 1, is 1/(b(b+1)): the weights
// add up to less than 1.
[[nodiscard]] double log_share_of_batch(std::int64_t batch);

// Returns the limit for the logarithm of the evidence of one measure: above it, the verdict is
// "worse". Each measure gets a fixed share of alpha. So all measures together stop a good version
// with a chance of at most alpha, even if the measures depend on each other. (The mean of all
// measures could be compared with 1/alpha only if they were independent.)
[[nodiscard]] double log_limit(double alpha, double share);

// Returns log(e^a + e^b). a and b may be minus infinity, which stands for the logarithm of 0.
[[nodiscard]] double log_sum(double a, double b);

}  // namespace fleet
