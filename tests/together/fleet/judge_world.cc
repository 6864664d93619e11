#include "tests/together/fleet/judge_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/judge_evidence.h"
#include "fleet/model/rollouts/judge_verdict.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet_test {

using fleet::Evidence;

namespace {

constexpr double soak = 70;
constexpr double first_minute = 1;
constexpr double delay = 1.5;  // minutes until the judge sees a failure
constexpr double alpha = 0.01;
constexpr std::int64_t controls_most = 500;
constexpr std::int64_t controls_least = 20;

std::vector<std::int64_t> sizes_of(std::int64_t nodes) {
  std::vector<std::int64_t> sizes;
  const auto shares = fleet::parse_batches(fleet::batches_default);
  for (std::int64_t left = nodes; left > 0;) {
    const std::size_t number = std::min(sizes.size(), shares.value().size() - 1);
    sizes.push_back(std::min(left, shares.value()[number].of(nodes)));
    left -= sizes.back();
  }
  return sizes;
}

std::int64_t controls_of(std::int64_t nodes) {
  return std::clamp(nodes / 10, controls_least, controls_most);
}

// The judge of the simulation: the real judge, or a judge with a bug. JudgeKind lists the bugs.
class Judge {
 public:
  Judge(JudgeKind kind, double tolerate) : kind_(kind), tolerate_(tolerate) {}

  // Records one failure, and judges the new version again. `is_new` is true if a node with the new
  // version has failed, and false if a control node has failed. Returns true if the rollout must
  // stop.
  bool failed(bool is_new, const fleet::AtRisk& at_risk) {
    const double chance = fleet::chance_of_new(at_risk, tolerate_);
    if (kind_ == JudgeKind::peeks) {
      excess_ += (is_new ? 1 : 0) - chance;
      variance_ += chance * (1 - chance);
      constexpr double one_per_cent = 2.326;
      return variance_ > 1 && excess_ > one_per_cent * std::sqrt(variance_);
    }
    evidence_.add(is_new, chance);
    const double limit = fleet::log_limit(alpha, 1);
    // Evidence::log() computes a mean of several values, which is expensive. The mean is at most as
    // large as the largest value. So the mean is computed only if the largest value reaches the
    // limit.
    return is_new && std::ranges::max(evidence_.logs()) >= limit && evidence_.log() >= limit;
  }

 private:
  JudgeKind kind_;
  double tolerate_;
  Evidence evidence_;
  double excess_ = 0;
  double variance_ = 0;
};

// One simulated rollout. It only counts nodes: those in the current batch, in earlier batches, and
// in the control. Some nodes are frail: they fail more often than the other nodes, with the old
// version as well as with the new version.
class Play {
 public:
  Play(const JudgedVersion& version, JudgeKind kind, Chance& chance)
      : version_(version),
        kind_(kind),
        chance_(chance),
        judge_(kind, version.tolerate),
        sizes_(sizes_of(version.nodes)),
        rates_{version.failures_a_minute, version.failures_a_minute * version.frail_factor} {
    split(controls_of(version.nodes), control_);
  }

  JudgedRollout run() {
    std::int64_t behind = version_.nodes;  // nodes that do not have the new version yet
    for (std::size_t batch = 0; batch < sizes_.size(); ++batch) {
      begin(sizes_[batch]);
      behind -= sizes_[batch];
      // As soon as a control node moves to the new version, the simulation stops comparing nodes.
      if (behind < controls_of(version_.nodes)) control_ = {};
      soak_batch(batch);
      if (out_.stopped_by_judge && out_.stopped_by_failures) break;
      for (std::size_t kind = 0; kind < 2; ++kind)
        before_[kind] += now_[kind];
    }
    if (!out_.stopped_by_judge) out_.touched = touched_;
    if (!out_.stopped_by_failures) out_.touched_by_failures = touched_;
    return out_;
  }

 private:
  using Counts = std::array<std::int64_t, 2>;

  void split(std::int64_t nodes, Counts& counts) {
    const std::int64_t frail = chance_.binomial(nodes, version_.frail_share);
    counts = {nodes - frail, frail};
  }

  // Begins a batch. A node that has failed before its batch began is not compared by the judge.
  void begin(std::int64_t size) {
    touched_ += size;
    batch_size_ = size;
    batch_failed_ = 0;
    split(size, now_);
    unseen_ = {};
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (kind_ == JudgeKind::forgets_early) continue;
      const std::int64_t early = chance_.binomial(now_[kind], -std::expm1(-rates_[kind] * time_));
      now_[kind] -= early;
      // These nodes failed before their batch began. The judge does not compare them any more, but
      // --max-failed still counts their later failures.
      unseen_[kind] = early;
    }
    bad_.clear();
    const std::int64_t bad = chance_.binomial(size, version_.bad_share);
    for (std::int64_t i = 0; i < bad; ++i)
      bad_.push_back(time_ + chance_.unit() * version_.bad_within);
    std::sort(bad_.begin(), bad_.end(), std::greater<>());
  }

  void soak_batch(std::size_t batch) {
    const double begun = time_;
    const double end = begun + soak;
    while (time_ < end) {
      const bool compared = time_ >= begun + first_minute;
      const double until = compared ? end : begun + first_minute;
      const double next = time_ + chance_.exponential(total_rate());
      const double bad = bad_.empty() ? until : bad_.back();
      if (std::min(next, bad) >= until) {
        time_ = until;
        continue;
      }
      time_ = std::min(next, bad);
      if (bad <= next) {
        bad_.pop_back();
        fails_bad(compared, batch, end);
      } else {
        fails(compared, batch, end);
      }
    }
  }

  [[nodiscard]] double total_rate() const {
    double sum = 0;
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto fresh = static_cast<double>(now_[kind] + before_[kind] + unseen_[kind]);
      sum += rates_[kind] * (fresh * version_.ratio + static_cast<double>(control_[kind]));
    }
    return sum;
  }

  // Makes a random node fail. The probability that a node is chosen is proportional to its failure
  // rate.
  void fails(bool compared, std::size_t batch, double end) {
    double at = chance_.unit() * total_rate();
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto is_of = [&](std::int64_t nodes, double factor) {
        at -= rates_[kind] * factor * static_cast<double>(nodes);
        return at < 0 && nodes > 0;
      };
      if (is_of(control_[kind], 1)) {
        compare(false, batch, end);
        --control_[kind];
        return;
      }
      if (is_of(before_[kind], version_.ratio)) {
        compare(true, batch, end);
        --before_[kind];
        return;
      }
      if (is_of(now_[kind], version_.ratio)) {
        if (compared) compare(true, batch, end);
        --now_[kind];
        count_failure();
        return;
      }
      if (is_of(unseen_[kind], version_.ratio)) {
        --unseen_[kind];
        count_failure();
        return;
      }
    }
  }

  void fails_bad(bool compared, std::size_t batch, double end) {
    const std::size_t kind = now_[0] > 0 ? 0 : 1;
    if (now_[kind] == 0) return;
    if (compared) compare(true, batch, end);
    --now_[kind];
    count_failure();
  }

  void compare(bool is_new, std::size_t batch, double end) {
    if (out_.stopped_by_judge) return;
    const std::int64_t now_fresh = now_[0] + now_[1];
    const fleet::AtRisk at_risk{before_[0] + before_[1] + now_fresh, control_[0] + control_[1]};
    if (!judge_.failed(is_new, at_risk)) return;
    out_.stopped_by_judge = true;
    out_.touched = touched_;
    // The real judge sees a failure only `delay` later. If the next batch begins before the judge
    // sees the failure, the nodes of that batch count as touched, too.
    if (time_ + delay >= end && batch + 1 < sizes_.size()) out_.touched += sizes_[batch + 1];
  }

  void count_failure() {
    ++failed_;
    ++batch_failed_;
    fleet::RolloutTerms terms = fleet::open_terms();
    terms.max_failed_unsaid = true;
    const bool all = batch_failed_ == batch_size_;
    if (out_.stopped_by_failures) return;
    if (!all && failed_ < fleet::failures_to_abort(terms, touched_)) return;
    out_.stopped_by_failures = true;
    out_.touched_by_failures = touched_;
  }

  const JudgedVersion& version_;
  JudgeKind kind_;
  Chance& chance_;
  Judge judge_;
  JudgedRollout out_;
  std::vector<std::int64_t> sizes_;
  std::array<double, 2> rates_ = {};
  Counts control_ = {};
  Counts before_ = {};
  Counts now_ = {};
  Counts unseen_ = {};
  std::vector<double> bad_;  // when the bad nodes will fail, latest first
  double time_ = 0;
  std::int64_t touched_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t batch_size_ = 0;
  std::int64_t batch_failed_ = 0;
};

}  // namespace

std::uint64_t Chance::bits() {
  // One step of the generator SplitMix64.
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

double Chance::unit() {
  constexpr double step = 0x1p-53;
  return static_cast<double>(bits() >> 11U) * step;
}

double Chance::exponential(double rate) {
  return rate > 0 ? -std::log1p(-unit()) / rate : 1e300;
}

// Draws how many of `count` tries succeed. Instead of drawing each try, draws the distances between
// successes, which is fast if successes are rare.
std::int64_t Chance::binomial(std::int64_t count, double chance) {
  if (chance <= 0) return 0;
  if (chance >= 1) return count;
  std::int64_t successes = 0;
  for (double at = 0;; ++successes) {
    at += std::floor(std::log1p(-unit()) / std::log1p(-chance)) + 1;
    if (at > static_cast<double>(count)) return successes;
  }
}

double Chance::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-unit()));
  return radius * std::cos(2 * std::numbers::pi * unit());
}

std::int64_t JudgedRollout::touched_first() const {
  return std::min(touched, touched_by_failures);
}

JudgedRollout judge_rollout(const JudgedVersion& version, JudgeKind judge, Chance& chance) {
  return Play(version, judge, chance).run();
}

namespace {

// Returns the evidence as a judge with an injected bug computes it. This judge assumes that each
// node with the new version has a value above the control's median with a probability of one half.
// The real judge computes this probability from the nodes that it has compared before: see
// chance_of_worse().
double log_by_halves(const std::vector<fleet::MeasuredChange>& changes, Evidence& halves) {
  std::vector<double> control;
  for (const fleet::MeasuredChange& one : changes) {
    if (!one.is_fresh) control.push_back(one.change);
  }
  const auto middle = control.begin() + static_cast<std::ptrdiff_t>(control.size() / 2);
  std::nth_element(control.begin(), middle, control.end());
  for (const fleet::MeasuredChange& one : changes) {
    if (one.is_fresh) halves.add(one.change > *middle, 0.5);
  }
  return halves.log();
}

}  // namespace

std::int64_t judge_gauge(const JudgedGauge& gauge, Chance& chance) {
  const auto change = [&](double shift) {
    if (gauge.rises > 0) return chance.unit() < gauge.rises * (1 + shift) ? 1.0 : 0.0;
    const double value = chance.normal() + shift;
    return gauge.is_coarse ? std::round(value) : value;
  };
  const std::int64_t controls = controls_of(gauge.nodes);
  const std::vector<std::int64_t> sizes = sizes_of(gauge.nodes);
  std::vector<double> control(static_cast<std::size_t>(controls));
  double mean = -1e300;
  std::int64_t touched = 0;
  Evidence halves;  // for the judge with the bug `by_half`
  for (std::size_t batch = 0; batch < sizes.size(); ++batch) {
    touched += sizes[batch];
    // Ends the comparison as soon as a control node has the new version.
    if (gauge.nodes - touched < controls) return 0;
    if (batch == 0 || !gauge.is_lasting) {
      for (double& value : control)
        value = change(0);
    }
    std::vector<fleet::MeasuredChange> changes;
    for (const double value : control)
      changes.push_back({false, value});
    for (std::int64_t i = 0; i < sizes[batch]; ++i)
      changes.push_back({true, change(gauge.shift)});
    // Puts the nodes into a random order, as in a real rollout.
    for (std::size_t i = changes.size(); i > 1; --i)
      std::swap(changes[i - 1], changes[chance.bits() % i]);
    const auto type = gauge.rises > 0 ? fleet::MeasureType::counter : fleet::MeasureType::gauge;
    double log = fleet::log_evidence_of(type, fleet::MeasureWorse::up, changes);
    if (gauge.by_half) log = log_by_halves(changes, halves);
    const double share = fleet::log_share_of_batch(static_cast<std::int64_t>(batch) + 1);
    mean = fleet::log_sum(mean, share + log);
    // The judge stops a good version with a probability of at most alpha. One half of alpha is for
    // failures. The other half is for the measures that a component reports about itself, as in
    // this simulation.
    const double limit = fleet::log_limit_of_measure(alpha, 1);
    if ((gauge.by_half ? halves.log() : mean) >= limit) return touched;
  }
  return 0;
}

}  // namespace fleet_test
