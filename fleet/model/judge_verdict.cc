#include "fleet/model/judge_verdict.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "fleet/model/record_brief.h"

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

// Returns a text such as `new: 3 of 51 failed first, control: 0 of 500`.
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
  if (!seen.missing.empty()) add("no report of the end from " + listed(seen.missing));
  if (seen.seen_ms * 100 < seen.soak_ms * judge_seen_min) {
    add(std::to_string(seen.soak_ms == 0 ? 0 : seen.seen_ms * 100 / seen.soak_ms) +
        "% of the soak was seen, " + std::to_string(judge_seen_min) + "% is needed");
  }
  return text;
}

// Returns why the batch does not wait for the judge's verdict, or an empty text if it has to wait.
std::string why_shown_only(const Compared& compared, const JudgeTerms& terms) {
  if (terms.nodes < judge_nodes_min) return "too few to compare";
  if (compared.control.at_risk >= judge_control_min) return "";
  return "no control; failures a node and day: new " + rate_text(compared.fresh) + ", control " +
         rate_text(compared.control);
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

}  // namespace fleet
