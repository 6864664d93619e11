// How strong the evidence is that a new version does worse than the one before, as a number that
// may be looked at at any time. Pure arithmetic: judge_cohorts.h says which nodes are compared, and
// judge_verdict.h draws the conclusion.
//
// The number is an *e-process*: it begins at 1, and if the versions are alike, the chance that it
// ever reaches N is at most 1/N, however often it is looked at (Ville's inequality). So a judge
// that stops at 1/alpha stops a good version with a chance of at most alpha, over the whole
// rollout.
//
// First failures are compared by the safe logrank test: J. ter Schure, M. F. Perez-Ortiz, A. Ly, P.
// Grünwald, "The Safe Logrank Test", arXiv:2011.06931. At each first failure, Y1 nodes of the new
// version and Y0 nodes of the control are at risk. Let r be the ratio of the failure rates of the
// two. Then the chance that the failed node has the new version is
//
//     p(r) = Y1 r / (Y1 r + Y0)
//
// Let tau be the ratio that is tolerated. The evidence is multiplied by p(r)/p(tau) if the failed
// node has the new version, and by (1-p(r))/(1-p(tau)) if it belongs to the control. Ratios are not
// known, so the evidence is the mean over ratios from 1.5 tau to 200 tau. The mean of e-processes
// is one, and each of them only shrinks for a smaller true ratio, so that the promise holds for
// every ratio up to tau.
//
// Assumed: which node is new and which is control was drawn without a look at the nodes (a random
// order), and every node is at risk from the same moment, when the rollout began, until its first
// failure. Failure rates may differ from node to node and change with time. With an order by name
// the promise is as good as the names are: see judge_verdict.h.
//
// How it behaves:
//
//     nobody has failed           1: no evidence, however long nobody fails
//     no control, or no new node  a failure changes nothing
//     one kind a thousand times   p is computed from the ratio of the two and never cancels; one
//     as many as the other        failed node of one new node, against 500, gives 30: no stop
//     a cohort of one node        the same: one node cannot reach 100 by itself
//     a node lies                 it counts once; without others that is not enough
//     reports late, twice, never  judge_cohorts.h: a failure is counted once, when it is known, and
//                                 a node is at risk only as long as it is seen
//
// Values are kept as logarithms, so that neither 10,000 failures nor none of them overflow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fleet {

// The ratios beyond the tolerated one that the evidence is the mean of: as dense as a factor two
// where a rollout has many failures to tell them apart, and up to a version that fails everywhere.
inline constexpr std::array evidence_ratios = {1.5, 2.0, 3.0, 5.0, 9.0, 20.0, 60.0, 200.0};

class Evidence {
 public:
  using Logs = std::array<double, evidence_ratios.size()>;

  Evidence() = default;
  // As it was taken from logs(), by another driver.
  explicit Evidence(const Logs& logs) : logs_(logs) {}

  // One thing has happened that is of the new kind or of the control. `chance` is how likely the
  // new kind was, if the ratio is the tolerated one: 0 to 1, and both ends change nothing.
  void add(bool is_new, double chance);

  // The natural logarithm of the evidence: 0 at the beginning.
  [[nodiscard]] double log() const;
  [[nodiscard]] const Logs& logs() const { return logs_; }

 private:
  Logs logs_ = {};  // of each ratio's own
};

// The nodes of either kind that are at risk at a first failure, the one that fails among them.
struct AtRisk {
  std::int64_t fresh = 0;
  std::int64_t control = 0;
};

// How likely it is that the node that fails first is a new one, if new ones fail `tolerate` times
// as often as others.
[[nodiscard]] double chance_of_new(const AtRisk& at_risk, double tolerate);

// Gauges, which have a value and no failures: one value a node and batch, how much it has changed
// over the soak. A node is *worse* if its change is worse than the median change of the control
// nodes in the same time. The first node is that with a chance of one half; for the next the
// chance is what the nodes before have shown of the median, which is an estimate of a few hundred
// values and no constant: of n nodes, a of them worse, against m control nodes,
//
//     chance of the next = (m/2 + a) / (m + 1 + n)      (rounded down above, m odd: (m+1)/2)
//
// This is Pólya's urn, exact if the values of all are exchangeable and none are equal. Equal ones
// count as not worse, which only takes evidence away. To take one half for every node would forget
// that the median of 500 is itself an estimate, and err three times as often as is allowed, if
// control nodes change in every batch as they did before (`make judge`).
[[nodiscard]] double chance_of_worse(std::int64_t controls, std::int64_t before,
                                     std::int64_t worse_before);

// Over the batches of a rollout, whose comparisons share the control's nodes, evidence of a gauge
// is a mean whose share of the b-th batch, from 1, is 1/(b(b+1)): these add up to less than 1, and
// a mean needs no independence.
[[nodiscard]] double log_share_of_batch(std::int64_t batch);

// The limit, as a logarithm, beyond which evidence is a verdict. Each measure gets a fixed share of
// alpha, so that all measures together err with a chance of at most alpha; this needs no
// independence, either. (To compare
// their mean with 1/alpha would: each is an e-process in a history of its own, but what one says of
// a node may foretell the other.)
[[nodiscard]] double log_limit(double alpha, double share);

// log(e^a + e^b), where either may be minus infinity: nothing.
[[nodiscard]] double log_sum(double a, double b);

}  // namespace fleet
