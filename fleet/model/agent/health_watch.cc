#include "fleet/model/agent/health_watch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

namespace {

// The most bytes of a bad line that a message quotes, and the most bytes that the value of a
// measure may have.
constexpr std::size_t shown_bytes_max = 40;

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r";
  for (;;) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// Returns the measure that one line of a component's output reports, or why the line is bad.
// `words` are the words of that line.
Result<Measure> measure_of(const std::vector<std::string_view>& words) {
  if (words.size() != 3 && words.size() != 4)
    return Refusal{"needs NAME counter|gauge [up|down] NUMBER"};
  Measure measure{.name = std::string(words[0]),
                  .type = value_of<MeasureType>(words[1]),
                  .value = std::string(words.back())};
  if (words.size() == 4) measure.worse = value_of<MeasureWorse>(words[2]);
  if (!is_id(measure.name)) return Refusal{"the name: " + why_no_id(measure.name)};
  if (measure.type == MeasureType::unknown)
    return Refusal{record_checks::quoted(words[1]) + " is neither counter nor gauge"};
  if (words.size() == 4 && measure.worse == MeasureWorse::unknown)
    return Refusal{record_checks::quoted(words[2]) + " is neither up nor down"};
  if (measure.value.size() > shown_bytes_max || !measured_number(measure.value))
    return Refusal{record_checks::quoted(measure.value) + " is no number"};
  return measure;
}

}  // namespace

HealthRun health_run_of(const NodeLedger* ledger, const std::optional<ControlWatch>& control) {
  const bool has_moved = ledger != nullptr && ledger->upgrade.action == CommandAction::apply &&
                         ledger->progress.attempt == ledger->upgrade.id && !ledger->upgrade.undo;
  const UpgradePhase phase = has_moved ? ledger->progress.phase : UpgradePhase::unknown;
  const bool is_soaked = phase == UpgradePhase::soaked || phase == UpgradePhase::done;
  if (is_soaked || phase == UpgradePhase::soaking) {
    return {.id = ledger->upgrade.id,
            .soak_ms = ledger->upgrade.soak_ms,
            .judged = ledger->upgrade.judged,
            .soaked = is_soaked};
  }
  if (!control) return {};
  return {.id = control->run, .by = control->by, .soak_ms = control->soak_ms, .judged = true};
}

HealthWatch::HealthWatch(std::string boot_id, std::string instance, bool measures)
    : boot_id_(std::move(boot_id)), instance_(std::move(instance)), has_measures_(measures) {}

void HealthWatch::look(const HealthRun& run, Ms now) {
  if (!run.id.empty() && run.id != run_.id) begin(run, now);
  // If `run.id` is empty, no run (comparison of this node with others) is asked for any more. The
  // current run `run_` still continues to its end. On a node of the control group, it ends
  // `run_.soak_ms` after its beginning.
  if (run.id == run_.id) run_.soaked = run_.soaked || run.soaked;
  consider(now);
}

// Begins a run, the time in which a rollout compares this node with others. If a node of the
// control group has several runs for the same rollout, its failures are counted from the beginning
// of the first run. No failure is compared twice, since the rollout compares only the first failure
// of each node.
void HealthWatch::begin(const HealthRun& run, Ms now) {
  if (run.by.empty() || run.by != run_.by) counts_at_begin_ = counts_;
  run_ = run;
  began_ = now;
  has_begun_measuring_ = has_measured_end_ = false;
  first_.clear();
  last_.clear();
  trouble_.clear();
}

bool HealthWatch::is_over(Ms now) const {
  return run_.by.empty() ? run_.soaked : now >= began_ + run_.soak_ms;
}

bool HealthWatch::is_settled(Ms now) const {
  return run_.id.empty() || (is_over(now) && (has_measured_end_ || !has_measures_));
}

bool HealthWatch::is_to_measure(Ms now) const {
  if (!has_measures_ || run_.id.empty() || has_measured_end_) return false;
  const Ms first = began_ + std::min(measure_first_ms, run_.soak_ms / 2);
  return is_over(now) || (!has_begun_measuring_ && now >= first);
}

void HealthWatch::measured(std::vector<Measure> measures, const std::string& trouble, Ms now) {
  if (is_over(now)) {
    last_ = changes(std::move(measures));
    has_measured_end_ = true;
  } else {
    first_ = std::move(measures);
    has_begun_measuring_ = true;
  }
  if (!trouble.empty()) trouble_ = trouble;
  consider(now);
}

// Fills in how much each measure has changed since the first reading. A counter that is lower than
// at the first reading was reset to 0 in between, so it has risen by at least its current value.
std::vector<Measure> HealthWatch::changes(std::vector<Measure> measures) const {
  for (Measure& measure : measures) {
    const auto before = std::find_if(first_.begin(), first_.end(), [&](const Measure& one) {
      return one.name == measure.name && one.type == measure.type;
    });
    if (before == first_.end()) continue;
    const double now = measured_number(measure.value).value_or(0);
    const double then = measured_number(before->value).value_or(0);
    const bool was_reset = measure.type == MeasureType::counter && now < then;
    measure.change = measured_text(was_reset ? now : now - then);
  }
  return measures;
}

// Makes a new record `health` if something has happened that people or the judge of a rollout must
// know. report() then returns the new record.
void HealthWatch::consider(Ms now) {
  if (run_.id.empty()) return;
  NodeHealth health{.run = run_.id,
                    .version = version_,
                    .boot_id = boot_id_,
                    .instance = instance_,
                    .sequence = sequence_ + 1,
                    .before = counts_at_begin_.all(),
                    .ends = counts_.ends - counts_at_begin_.ends,
                    .unhealthy = counts_.unhealthy - counts_at_begin_.unhealthy,
                    .fallbacks = counts_.fallbacks - counts_at_begin_.fallbacks,
                    .over = is_settled(now),
                    .trouble = trouble_,
                    .measures = last_};
  const bool is_ours = report_ && report_->run == run_.id;
  const bool begins = !is_ours && run_.judged;
  const bool fails = health.failures() > 0 && (!is_ours || report_->failures() == 0);
  const bool ends = health.over && (!is_ours || !report_->over);
  // If the rollout does not compare nodes, the record `health` is only for people to read. The node
  // then writes the record only to show measures or failures.
  const bool is_worth_it = run_.judged || is_ours || has_measures_ || fails;
  if (!begins && !fails && !(ends && is_worth_it)) return;
  sequence_ = health.sequence;
  report_ = std::move(health);
}

// ---- the measures

MeasureLines read_measures(std::string_view output) {
  MeasureLines read;
  const auto add = [&read](const std::string& why) {
    read.trouble += (read.trouble.empty() ? "" : "; ") + why;
  };
  const bool is_cut = output.size() > measure_bytes_max;
  std::size_t number = 0;
  for (std::string_view rest = output.substr(0, measure_bytes_max); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    // If the output was cut off, the last line may end in the middle of its number, so it is
    // dropped.
    if (end == rest.npos && is_cut) break;
    const std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    ++number;
    const auto words = words_of_line(line);
    if (words.empty()) continue;
    const std::string where =
        "line " + std::to_string(number) + " \"" + brief(line, shown_bytes_max) + "\": ";
    const auto measure = measure_of(words);
    if (!measure) {
      add(where + measure.reason());
      continue;
    }
    const bool is_there =
        std::any_of(read.measures.begin(), read.measures.end(),
                    [&](const Measure& one) { return one.name == measure.value().name; });
    if (is_there) {
      add(where + "the name is there already");
    } else if (read.measures.size() == measures_max) {
      add(where + "at most " + std::to_string(measures_max) + " measures");
    } else {
      read.measures.push_back(measure.value());
    }
  }
  if (is_cut) add("longer than " + std::to_string(measure_bytes_max) + " bytes");
  read.trouble = brief(read.trouble);
  return read;
}

std::optional<double> measured_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string measured_text(double number) {
  std::array<char, 32> text = {};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::string(text.data(), end) : "";
}

}  // namespace fleet
