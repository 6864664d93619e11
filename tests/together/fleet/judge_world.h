// Simulates rollouts over many nodes that fail at random, with the judge's real arithmetic.
// Measures how often the judge stops a good version, and how many nodes a bad version reaches. The
// simulation is fast because it has no records and no clock: time is a number, and nodes are only
// counted. The sizes of the batches are those of a real rollout.
#pragma once

#include <cstdint>
#include <string>

namespace fleet_test {

// Random numbers that are the same on every machine for the same seed.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  double unit();                    // a number from 0 to just below 1
  double exponential(double rate);  // the time to the next event
  std::int64_t binomial(std::int64_t count, double chance);
  double normal();

 private:
  std::uint64_t state_;
};

// The properties of a simulated version and of the nodes. Times are in minutes.
struct JudgedVersion {
  std::int64_t nodes = 10'000;
  // How often a node with the old version fails.
  double failures_a_minute = 1.0 / (30 * 24 * 60);
  double ratio = 1;  // failures with the new version / with the old one
  double tolerate = 1;
  // Some nodes are frail: they fail `frail_factor` times as often as other nodes, with the old
  // version and with the new one. `frail_share` is the share of such nodes, from 0 to 1.
  double frail_share = 0;
  double frail_factor = 1;
  // Some nodes are bad: the new version fails on them within the time `bad_within`. `bad_share` is
  // the share of such nodes, from 0 to 1.
  double bad_share = 0;
  double bad_within = 70;
};

// The judge of a simulation: the real judge, or a judge with an injected bug that the simulation
// must find.
enum class JudgeKind {
  real,
  // A judge with a bug: instead of keeping evidence, it compares the two failure rates at each
  // failure, at a significance level of 1 %.
  peeks,
  // A judge with a bug: it forgets which nodes had already failed before they moved to the new
  // version. So it wrongly compares these nodes, too.
  forgets_early,
};

struct JudgedRollout {
  // The simulated judge continues after --max-failed has stopped the rollout, so this may be true
  // together with stopped_by_failures.
  bool stopped_by_judge = false;
  // How many nodes had got the new version when the judge stopped the rollout, or at the rollout's
  // end if the judge did not stop it.
  std::int64_t touched = 0;
  bool stopped_by_failures = false;
  std::int64_t touched_by_failures = 0;

  // Returns how many nodes had got the new version when the rollout was stopped by the judge or by
  // --max-failed, whichever came first.
  [[nodiscard]] std::int64_t touched_first() const;
};

[[nodiscard]] JudgedRollout judge_rollout(const JudgedVersion& version, JudgeKind judge,
                                          Chance& chance);

// A number that a component reports about itself, and that the judge compares between nodes with
// the new version and control nodes. Its change during a soak is random, with a normal distribution
// whose standard deviation is 1. `shift` is added on nodes with the new version.
struct JudgedGauge {
  std::int64_t nodes = 10'000;
  double shift = 0;
  // If true, a control node has the same change in every batch. If false, it has a new random
  // change in every batch.
  bool is_lasting = false;
  bool is_coarse = false;  // changes are whole numbers, so ties are common
  bool by_half = false;    // injects a bug: see log_by_halves()
  // If not 0, the component's number is a counter, and this is the probability that the counter
  // rises by 1 during a soak on a control node. On a node with the new version, the probability is
  // 1 + `shift` times as high.
  double rises = 0;
};
// Returns how many nodes had got the new version when the judge stopped the rollout, or 0 if the
// judge did not stop it.
[[nodiscard]] std::int64_t judge_gauge(const JudgedGauge& gauge, Chance& chance);

// For how many minutes the judge has compared the first three batches of a rollout with default
// options, when the soak of the third batch ends. The minutes of all nodes of these batches are
// added up.
inline constexpr double early_minutes = 1 * 209 + 50 * 139 + 400 * 69;

}  // namespace fleet_test
