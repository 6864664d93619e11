// Simulates rollouts over many nodes whose failures are random, with the real arithmetic of the
// judge. Measures how often the judge stops a good version, and how many nodes a bad one reaches.
// To be fast, time is a number and nodes are only counted; the batches are those of a real rollout.
#pragma once

#include <cstdint>
#include <string>

namespace fleet_test {

// Random numbers, which are the same for the same seed on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  double unit();                    // a random number from 0 to 1, but never 1
  double exponential(double rate);  // a random time to the next event, at this rate
  std::int64_t binomial(std::int64_t count, double chance);
  double normal();

 private:
  std::uint64_t state_;
};

// The version that is simulated, and the nodes. Times are minutes.
struct JudgedVersion {
  std::int64_t nodes = 10'000;
  // The failure rate of one node with the old version.
  double failures_a_minute = 1.0 / (30 * 24 * 60);
  double ratio = 1;  // the failure rate with the new version, divided by that with the old one
  double tolerate = 1;
  double frail_share = 0;  // the share of nodes that fail more often (frail), from 0 to 1
  // How much higher the failure rate of a frail node is, with either version.
  double frail_factor = 1;
  double bad_share = 0;    // the share of nodes on which the new version fails, from 0 to 1
  double bad_within = 70;  // the longest time in minutes until the new version fails on such a node
};

// The judge of a simulation: the real one, or one with an error that the simulation must find.
enum class JudgeKind {
  real,
  peeks,          // at each failure, compares both failure rates at the 1 % level
  forgets_early,  // does not know which nodes have failed before they moved
};

struct JudgedRollout {
  bool stopped_by_judge = false;  // true even if --max-failed has stopped the rollout earlier
  // How many nodes had the new version when the judge stopped the rollout; all, if it did not.
  std::int64_t touched = 0;
  bool stopped_by_failures = false;
  std::int64_t touched_by_failures = 0;

  // Returns how many nodes had got the new version when the judge or --max-failed, whichever was
  // first, stopped the rollout.
  [[nodiscard]] std::int64_t touched_first() const;
};

[[nodiscard]] JudgedRollout judge_rollout(const JudgedVersion& version, JudgeKind judge,
                                          Chance& chance);

// A measure that a component reports of itself. Its change over a soak is drawn from a normal
// distribution with a standard deviation of 1. On nodes with the new version, `shift` is added.
struct JudgedGauge {
  std::int64_t nodes = 10'000;
  double shift = 0;
  bool is_lasting = false;  // a control node's change is the same in every batch
  bool is_coarse = false;   // changes are whole numbers, so many are equal
  bool by_half = false;     // a planted error: see log_by_halves() in judge_world.cc
  // If not 0, the measure is a counter instead, which rises on this share of the control nodes in a
  // soak. On new nodes, the share is larger by the factor 1 + `shift`.
  double rises = 0;
};
// Returns how many nodes had got the new version when the rollout was stopped, or 0 if it was not.
[[nodiscard]] std::int64_t judge_gauge(const JudgedGauge& gauge, Chance& chance);

// The first three of a rollout's default batches: their number of nodes, and the minutes for which
// these nodes together have been at risk when the third batch is judged.
inline constexpr std::int64_t early_nodes = 451;
inline constexpr double early_minutes = 1 * 209 + 50 * 139 + 400 * 69;

}  // namespace fleet_test
