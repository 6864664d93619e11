#include "fleet/model/rollouts/judge_verdict.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "fleet/model/agent/health_watch.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/judge_evidence.h"

namespace fleet {
namespace {

std::string digits_of_number(double number, std::chars_format format, int digits) {
  std::array<char, 32> text = {};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, format, digits);
  return error == std::errc{} ? std::string(text.data(), end) : "?";
}

// Above this value, the evidence is shown only as `e > 1000000`.
constexpr double evidence_shown_max = 1e6;

std::string evidence_digits(double value) {
  constexpr double few = 10;
  if (!(value < evidence_shown_max)) return "1000000";
  return value < few ? digits_of_number(value, std::chars_format::general, 2)
                     : digits_of_number(value, std::chars_format::fixed, 0);
}

std::string failed_text(const CohortCount& count) {
  return std::to_string(count.failed) + " of " + std::to_string(count.nodes);
}

// Returns a string such as `new: 3 of 51 failed first, control: 0 of 500`, which says that 3 of the
// 51 nodes with the new version have failed at least once, and no node of the control group.
std::string counts_text(const Compared& compared) {
  return "new: " + failed_text(compared.fresh) +
         " failed first, control: " + failed_text(compared.control);
}

std::string rate_text(const CohortCount& count) {
  constexpr double day_ms = 86'400'000;
  if (count.node_ms <= 0) return "none";
  const double rate =
      static_cast<double>(count.failed) * day_ms / static_cast<double>(count.node_ms);
  return digits_of_number(rate, std::chars_format::general, 3);
}

std::string seen_text(const BatchSeen& seen) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!seen.is_soak_over) add("the soak is not over");
  if (seen.seen_ms * 100 < seen.soak_ms * judge_seen_min) {
    add(std::to_string(seen.soak_ms == 0 ? 0 : seen.seen_ms * 100 / seen.soak_ms) +
        "% of the soak was seen, " + std::to_string(judge_seen_min) + "% is needed");
  }
  return text;
}

// Returns why the batch does not wait for a verdict, or an empty string if enough nodes are
// compared. The reason is that the rollout has fewer than judge_nodes_min nodes, or that fewer than
// judge_control_min nodes of the control group are still compared and have not failed. Then the
// judge's numbers are only shown to people. But in the second case, judge() gives the verdict
// "worse" if the evidence has reached its limit.
std::string why_shown_only(const Compared& compared, const JudgeTerms& terms) {
  if (terms.nodes < judge_nodes_min) return "too few to compare";
  if (compared.control.at_risk >= judge_control_min) return "";
  return "no control; failures a node and day: new " + rate_text(compared.fresh) + ", control " +
         rate_text(compared.control);
}

struct Medians {
  double median = 0;
  std::int64_t controls = 0;
};

// Returns the median of the control group's changes, each multiplied by `sign`. If the number of
// changes is even, two values are in the middle, and the upper one is the median, as
// chance_of_worse() needs it. `sign` is -1 for a measure for which lower values are worse,
// otherwise 1.
Medians medians_of(const std::vector<MeasuredChange>& changes, double sign) {
  std::vector<double> control;
  for (const MeasuredChange& one : changes) {
    if (!one.is_fresh) control.push_back(sign * one.change);
  }
  if (control.empty()) return {};
  const auto middle = control.begin() + static_cast<std::ptrdiff_t>(control.size() / 2);
  std::nth_element(control.begin(), middle, control.end());
  return {*middle, static_cast<std::int64_t>(control.size())};
}

double log_by_median(const std::vector<MeasuredChange>& changes, double sign) {
  const Medians control = medians_of(changes, sign);
  Evidence evidence;
  std::int64_t before = 0;
  std::int64_t worse_before = 0;
  for (const MeasuredChange& one : changes) {
    if (!one.is_fresh) continue;
    const bool is_worse = sign * one.change > control.median;
    evidence.add(is_worse, chance_of_worse(control.controls, before, worse_before));
    ++before;
    if (is_worse) ++worse_before;
  }
  return evidence.log();
}

double log_by_failures(const std::vector<MeasuredChange>& changes, double tolerate) {
  AtRisk at_risk;
  for (const MeasuredChange& one : changes)
    ++(one.is_fresh ? at_risk.fresh : at_risk.control);
  Evidence evidence;
  for (const MeasuredChange& one : changes) {
    if (one.change <= 0) continue;
    evidence.add(one.is_fresh, chance_of_new(at_risk, tolerate));
    --(one.is_fresh ? at_risk.fresh : at_risk.control);
  }
  return evidence.log();
}

double sign_of(MeasureWorse worse) {
  return worse == MeasureWorse::down ? -1 : 1;
}

// Returns how many nodes with the new version have a change of the measure that is worse than the
// median change in the control group.
std::int64_t count_worse(const JudgedMeasure& measure, const std::vector<MeasuredChange>& changes) {
  const double sign = sign_of(measure.worse);
  const double median = medians_of(changes, sign).median;
  return std::count_if(changes.begin(), changes.end(), [&](const MeasuredChange& one) {
    return one.is_fresh && sign * one.change > median;
  });
}

std::optional<double> change_of(const MeasuredNode& node, const JudgedMeasure& measure) {
  for (const Measure& one : node.measures) {
    const bool is_it =
        one.name == measure.name && one.type == measure.type && one.worse == measure.worse;
    if (is_it) return measured_number(one.change);
  }
  return std::nullopt;
}

}  // namespace

std::string evidence_text(double log_evidence, double limit) {
  const double value = std::exp(log_evidence);
  const std::string text =
      value < evidence_shown_max ? "e = " + evidence_digits(value) : "e > 1000000";
  return log_evidence < limit ? text : text + " > " + evidence_digits(std::exp(limit));
}

std::string_view text_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::well:
      return "well";
    case Verdict::worse:
      return "worse";
    case Verdict::not_known:
      return "not known";
  }
  return "";
}

Judgement judge(const Compared& compared, const BatchSeen& seen, const JudgeTerms& terms) {
  Judgement judgement;
  const std::string counts = counts_text(compared);
  const std::string shown_only = why_shown_only(compared, terms);
  const double limit = log_limit(terms.alpha, 1);
  const bool is_worse = compared.log_evidence >= limit;
  judgement.is_waited_for = shown_only.empty() || (is_worse && terms.nodes >= judge_nodes_min);
  if (!judgement.is_waited_for) {
    judgement.words = counts + ": " + shown_only;
    return judgement;
  }
  const std::string missing = seen_text(seen);
  judgement.verdict = is_worse          ? Verdict::worse
                      : missing.empty() ? Verdict::well
                                        : Verdict::not_known;
  judgement.words = counts + ": " + std::string(text_of(judgement.verdict)) + ", " +
                    evidence_text(compared.log_evidence, limit);
  if (judgement.verdict == Verdict::not_known) judgement.words += ": " + missing;
  if (terms.order != NodeOrder::random) judgement.words += " (not randomised)";
  return judgement;
}

Judgement judge_bake(const BakeCounts& counts, double log_before, const JudgeTerms& terms) {
  constexpr double day_ms = 86'400'000;
  Judgement judgement;
  const CohortCount fresh{.failed = counts.failed, .node_ms = counts.node_ms};
  const double rate = control_rate_max(counts.control_failed, counts.control_ms);
  const std::string begin = "bake: " + std::to_string(counts.failed) + " failed first, " +
                            rate_text(fresh) + " a node and day, the control ";
  judgement.verdict = Verdict::well;
  if (rate <= 0) {
    judgement.words = begin + "was never seen";
    return judgement;
  }
  const double log_evidence = log_before + log_bake_evidence(counts, terms.tolerate);
  const double limit = log_limit(terms.alpha, 1);
  if (log_evidence >= limit) judgement.verdict = Verdict::worse;
  judgement.words =
      begin + "at most " + digits_of_number(rate * day_ms, std::chars_format::general, 3) + ": " +
      std::string(text_of(judgement.verdict)) + ", " + evidence_text(log_evidence, limit);
  return judgement;
}

double alpha_of(const RolloutTerms& terms) {
  const double alpha = static_cast<double>(terms.alpha_millionths) / million;
  return terms.bake_ms == 0 ? alpha : alpha - bake_alpha;
}

double tolerate_of(const RolloutTerms& terms) {
  return static_cast<double>(terms.tolerate_millionths) / million;
}

std::int64_t control_size(std::int64_t nodes) {
  if (nodes < judge_nodes_min) return 0;
  return std::clamp(nodes / 10, judge_control_min, judge_control_max);
}

// ---- the measures

double log_evidence_of(MeasureType type, MeasureWorse worse,
                       const std::vector<MeasuredChange>& changes, double tolerate) {
  const auto fresh = std::count_if(changes.begin(), changes.end(),
                                   [](const MeasuredChange& one) { return one.is_fresh; });
  if (fresh == 0 || fresh == static_cast<std::ptrdiff_t>(changes.size())) return 0;
  const double by_median = log_by_median(changes, sign_of(worse));
  if (type != MeasureType::counter || worse != MeasureWorse::up) return by_median;
  return log_sum(by_median, log_by_failures(changes, tolerate)) - std::log(2.0);
}

std::vector<JudgedMeasure> chosen_measures(const std::vector<MeasuredNode>& nodes) {
  std::map<std::tuple<std::string, MeasureType, MeasureWorse>, std::int64_t> given;
  std::int64_t control = 0;
  for (const MeasuredNode& node : nodes) {
    if (node.is_fresh) continue;
    ++control;
    for (const Measure& one : node.measures) {
      if (one.worse != MeasureWorse::unknown && measured_number(one.change))
        ++given[{one.name, one.type, one.worse}];
    }
  }
  std::vector<JudgedMeasure> chosen;
  for (const auto& [kind, count] : given) {
    const bool is_usual = count >= judge_control_min && count * 100 >= control * measure_given_min;
    if (!is_usual || chosen.size() == measures_max) continue;
    const auto& [name, type, worse] = kind;
    chosen.push_back({.name = name, .type = type, .worse = worse});
  }
  return chosen;
}

std::string judge_measure(JudgedMeasure& measure, const std::vector<MeasuredNode>& nodes,
                          std::int64_t fresh, std::int64_t batch, double tolerate) {
  if (measure.batch == batch) return "";
  std::vector<std::pair<std::uint64_t, MeasuredChange>> placed;
  std::int64_t given = 0;
  for (const MeasuredNode& node : nodes) {
    const auto change = change_of(node, measure);
    if (!change) continue;
    placed.push_back({place_of("tie", node.node), {node.is_fresh, *change}});
    if (node.is_fresh) ++given;
  }
  if (given * 100 < fresh * measure_given_min) {
    return "measure " + measure.name + ": " + std::to_string(given) + " of " +
           std::to_string(fresh) + " nodes of the batch give it";
  }
  measure.batch = batch;
  measure.control = static_cast<std::int64_t>(placed.size()) - given;
  if (measure.control < judge_control_min || given == 0) return "";
  std::sort(placed.begin(), placed.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<MeasuredChange> changes;
  for (const auto& [place, change] : placed)
    changes.push_back(change);
  ++measure.judged;
  measure.fresh += given;
  measure.fresh_worse += count_worse(measure, changes);
  const double log_batch = log_share_of_batch(measure.judged) +
                           log_evidence_of(measure.type, measure.worse, changes, tolerate);
  const double log = measure.judged == 1
                         ? log_batch
                         : log_sum(static_cast<double>(measure.log) / million, log_batch);
  measure.log = std::llround(log * million);
  return "";
}

double log_limit_of_measure(double alpha, std::size_t measures) {
  return log_limit(alpha, measures_share / static_cast<double>(measures));
}

std::string tell_measures(std::vector<JudgedMeasure>& measures, double alpha) {
  const double limit = log_limit_of_measure(alpha, measures.size());
  std::string worse;
  for (JudgedMeasure& measure : measures) {
    if (measure.judged == 0) {
      measure.words = measure.batch < 0 ? "not judged yet" : "no control";
      continue;
    }
    const double log = static_cast<double>(measure.log) / million;
    measure.words = std::to_string(measure.fresh_worse) + " of " + std::to_string(measure.fresh) +
                    " worse than the median of " + std::to_string(measure.control) +
                    " of the control: ";
    const bool is_worse = log >= limit;
    measure.words += (is_worse ? "worse, " : "well, ") + evidence_text(log, limit);
    if (!is_worse) continue;
    worse += (worse.empty() ? "measure " : "; measure ") + measure.name + ": " + measure.words;
  }
  return worse;
}

}  // namespace fleet
