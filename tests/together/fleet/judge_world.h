// Rollouts of many nodes whose failures are drawn at random, judged by the real arithmetic as fast
// as a processor can: how often a good version is stopped, and how far a bad one comes. Time is a
// number, a node is a count, and the batches are those that a real rollout has.
#pragma once

#include <cstdint>
#include <string>

namespace fleet_test {

// A random number after the other, the same for the same seed on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  double unit();                    // 0 to 1, never 1
  double exponential(double rate);  // the time to the next
  std::int64_t binomial(std::int64_t count, double chance);
  double normal();

 private:
  std::uint64_t state_;
};

// What is simulated. Times are minutes.
struct JudgedVersion {
  std::int64_t nodes = 10'000;
  double failures_a_minute = 1.0 / (30 * 24 * 60);  // of one node, with the old version
  double ratio = 1;                                 // how much more often with the new one
  double tolerate = 1;
  double frail_share = 0;   // of the nodes, which fail
  double frail_factor = 1;  // so much more often, with either version
  double bad_share = 0;     // of the nodes, on which the new version fails
  double bad_within = 70;   // some time after its start
};

// Which judge: the real one, or one with an error that a simulation must find.
enum class JudgeKind {
  real,
  peeks,          // takes a 1 % test for two rates, and looks at each failure
  forgets_early,  // does not know that a node has failed before it moved
};

struct JudgedRollout {
  bool stopped_by_judge = false;  // it would be, whatever --max-failed says
  std::int64_t touched = 0;       // when the judge stopped it, or all
  bool stopped_by_failures = false;
  std::int64_t touched_by_failures = 0;

  // When the first of the two has stopped it.
  [[nodiscard]] std::int64_t touched_first() const;
};

[[nodiscard]] JudgedRollout judge_rollout(const JudgedVersion& version, JudgeKind judge,
                                          Chance& chance);

// A gauge: its change over a soak is normal, with a deviation of 1, and shifted on new nodes.
struct JudgedGauge {
  std::int64_t nodes = 10'000;
  double shift = 0;
  bool is_lasting = false;  // a control node has the same change in every batch
  bool is_coarse = false;   // changes are whole numbers, so that many are equal
  bool by_half = false;     // an error: each node is compared with one half, whatever was seen
};
// How many were touched when it was stopped; 0: it was not.
[[nodiscard]] std::int64_t judge_gauge(const JudgedGauge& gauge, Chance& chance);

// When the first batches of the default have been judged, so many nodes have been touched, and
// have been at risk for so many minutes in all.
inline constexpr std::int64_t early_nodes = 451;
inline constexpr double early_minutes = 1 * 209 + 50 * 139 + 400 * 69;

}  // namespace fleet_test
