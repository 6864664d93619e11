// Simulates rollouts over many nodes whose failures are random. The real arithmetic of the judge
// finds out how often a good version is stopped, and how many nodes a bad one reaches. To be fast,
// time is a number and nodes are only counted; the batches are those of a real rollout.
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
  double failures_a_minute = 1.0 / (30 * 24 * 60);  // the mean of one node with the old version
  double ratio = 1;  // how much more often nodes fail with the new version
  double tolerate = 1;
  double frail_share = 0;   // the share of nodes that fail more often (frail), from 0 to 1
  double frail_factor = 1;  // how much more often frail nodes fail, with either version
  double bad_share = 0;     // the share of nodes on which the new version fails, from 0 to 1
  double bad_within = 70;   // the most minutes until the new version fails on such a node
};

// The judge of a simulation: the real one, or one with an error that the simulation must find.
enum class JudgeKind {
  real,
  peeks,          // tests two failure rates at the level of 1 %, anew at each failure
  forgets_early,  // forgets which nodes failed before they moved
};

struct JudgedRollout {
  bool stopped_by_judge = false;  // perhaps later than --max-failed
  // nodes that had got the new version when the judge stopped, or all
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
// distribution with a deviation of 1; on new nodes, `shift` is added.
struct JudgedGauge {
  std::int64_t nodes = 10'000;
  double shift = 0;
  bool is_lasting = false;  // each control node has the same change in every batch
  bool is_coarse = false;   // changes are whole numbers, so many are equal
  bool by_half = false;     // an error of the judge: each chance is one half
  // If not 0, the measure is a counter instead, which rises on this share of the control nodes in a
  // soak. On new nodes, the share is larger by the factor 1 + `shift`.
  double rises = 0;
};
// Returns how many nodes had got the new version when the rollout was stopped, or 0 if it was not.
[[nodiscard]] std::int64_t judge_gauge(const JudgedGauge& gauge, Chance& chance);

// The first three of a rollout's default batches: how many nodes they have together, and how many
// minutes all these nodes together have been at risk when the third batch is judged.
inline constexpr std::int64_t early_nodes = 451;
inline constexpr double early_minutes = 1 * 209 + 50 * 139 + 400 * 69;

}  // namespace fleet_test
