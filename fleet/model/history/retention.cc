#include "fleet/model/history/retention.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/releases/release_list.h"

namespace fleet {
namespace {

// The most lines of history/ that one transaction writes. The transaction has one compare and one
// write for each line.
constexpr std::size_t lines_at_once = 40;
constexpr std::size_t members_at_once = 100;

const std::string plans_group = "plans";

// Returns a string that identifies one end of a rollout or plan, so that each end gets one line in
// history/. The string contains the trace, an id that is new for each run, since a later run may
// have the same name. A rollout that is undone after its end ends a second time, so the string also
// says whether the rollout is undone.
std::string run_of(const PastRun& line) {
  const bool is_undone = line.state == text_of(RolloutState::undone);
  return line.subject + " " + line.trace + (is_undone ? " undone" : "");
}

std::string subject_of(const ParsedKey& key) {
  return (key.kind == KeyKind::rollout ? "rollout/" : "plan/") + key.names.front();
}

PastRun line_of(const Rollout& one, const std::string& subject) {
  return {.subject = subject,
          .what = one.terms.component + " " + one.terms.version,
          .state = std::string(text_of(one.state)),
          .reason = one.reason,
          .who = one.who,
          .began = one.created,
          .trace = one.trace};
}

PastRun line_of(const Plan& one, const std::string& subject) {
  return {.subject = subject,
          .what = one.version,
          .state = std::string(text_of(one.state)),
          .reason = one.error,
          .who = one.who,
          .trace = one.trace};
}

}  // namespace

bool is_in_history(std::string_view subject, const Reading& reading) {
  const std::string below = prefix_of(KeyKind::history);
  return std::any_of(reading.found.begin(), reading.found.end(), [&](const KeyValue& found) {
    if (!found.key.starts_with(below)) return false;
    const auto line = read_record<PastRun>(found.value);
    return line && line.value().subject == subject;
  });
}

// Remembers that this run of a rollout or plan has ended, or forgets the run if `ended` has no
// value. Shortens the run's strings in the same way as its line in history/, so that run_of()
// returns the same for both.
void Retention::take_run(const std::string& subject, std::optional<Ended> ended) {
  ended_.erase(subject);
  if (!ended) return;
  static_cast<void>(put_right(ended->line));
  ended_.emplace(subject, std::move(*ended));
}

void Retention::take(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::rollout) {
    const std::string subject = subject_of(key);
    const auto read = read_record<Rollout>(record.value);
    if (!read || !is_over(read.value().state)) return take_run(subject, std::nullopt);
    const RolloutTerms& terms = read.value().terms;
    take_run(subject, Ended{record.modified, "rollouts of " + terms.component, terms.version,
                            line_of(read.value(), subject)});
  }
  if (key.kind == KeyKind::plan) {
    const std::string subject = subject_of(key);
    const auto read = read_record<Plan>(record.value);
    if (!read || !is_over(read.value().state)) {
      unfinished_plans_.insert(key.names.front());
      return take_run(subject, std::nullopt);
    }
    unfinished_plans_.erase(key.names.front());
    take_run(subject, Ended{record.modified, plans_group, "", line_of(read.value(), subject)});
  }
  if (key.kind == KeyKind::node_plan) members_[key.names[1]].insert(key.names[0]);
  if (key.kind == KeyKind::history) {
    forget_line(key.number());
    const auto read = read_record<PastRun>(record.value);
    const PastRun line = read ? read.value() : PastRun{};
    const std::string run = run_of(line);
    lines_[key.number()] = {run, line.ended};
    line_of_[run] = key.number();
  }
}

void Retention::take_absent(const ParsedKey& key) {
  if (key.kind == KeyKind::plan) unfinished_plans_.erase(key.names.front());
  if (key.kind == KeyKind::plan || key.kind == KeyKind::rollout) ended_.erase(subject_of(key));
  if (key.kind == KeyKind::history) forget_line(key.number());
  if (key.kind != KeyKind::node_plan) return;
  const auto at = members_.find(key.names[1]);
  if (at == members_.end()) return;
  at->second.erase(key.names[0]);
  if (at->second.empty()) members_.erase(at);
}

void Retention::forget_line(std::uint64_t number) {
  const auto line = lines_.find(number);
  if (line == lines_.end()) return;
  const auto of = line_of_.find(line->second.run);
  if (of != line_of_.end() && of->second == number) line_of_.erase(of);
  lines_.erase(line);
}

std::optional<Transaction> Retention::next(const CellSettings& settings,
                                           const TimeText& time) const {
  if (auto lines = write_lines(time)) return lines;
  if (auto run = erase_run(time(settings.keep_s))) return run;
  return erase_lines();
}

// Writes a line in history/ for each ended rollout or plan that has no line yet.
std::optional<Transaction> Retention::write_lines(const TimeText& time) const {
  const std::uint64_t last = lines_.empty() ? 0 : lines_.rbegin()->first;
  Transaction transaction{.compares = {{.key = key_of(KeyKind::history, {}, last + 1)}}};
  for (const auto& [subject, run] : ended_) {
    if (line_of_.contains(run_of(run.line))) continue;
    const std::uint64_t number = last + 1 + transaction.puts.size();
    if (transaction.puts.size() == lines_at_once || number > event_number_max) break;
    PastRun line = run.line;
    line.ended = time(0);
    transaction.compares.push_back(
        {.key = std::string(key_root) + subject, .revision = run.revision});
    transaction.puts.push_back({key_of(KeyKind::history, {}, number), write_record(line)});
  }
  if (transaction.puts.empty()) return std::nullopt;
  return transaction;
}

// Erases the oldest lines of history/. Keeps the line of each rollout or plan that still has its
// own records: otherwise write_lines() would write a new line for it.
std::optional<Transaction> Retention::erase_lines() const {
  std::set<std::uint64_t> needed;
  for (const auto& [subject, run] : ended_) {
    const auto line = line_of_.find(run_of(run.line));
    if (line != line_of_.end()) needed.insert(line->second);
  }
  Transaction transaction;
  std::size_t left = lines_.size();
  for (auto line = lines_.begin(); line != lines_.end() && left > lines_kept_max; ++line) {
    if (needed.contains(line->first)) continue;
    --left;
    transaction.erases.push_back({key_of(KeyKind::history, {}, line->first)});
    if (transaction.erases.size() == members_at_once) break;
  }
  if (transaction.erases.empty()) return std::nullopt;
  return transaction;
}

bool Retention::is_needed(const std::string& subject, const Ended& run) const {
  if (run.group == plans_group) return false;
  // Keep the last rollout of a component's highest version, so that this version is not rolled out
  // twice. If there were several rollouts of this version, the last one has the highest number in
  // history/.
  const auto number_of = [this](const Ended& one) {
    const auto line = line_of_.find(run_of(one.line));
    return line == line_of_.end() ? 0 : line->second;
  };
  const std::uint64_t number = number_of(run);
  const bool is_highest = std::none_of(ended_.begin(), ended_.end(), [&](const auto& other) {
    if (other.second.group != run.group) return false;
    const auto order = compare_versions(other.second.version, run.version);
    return order > 0 || (order == 0 && number_of(other.second) > number);
  });
  const std::string name = subject.substr(subject.find('/') + 1);
  return is_highest ||
         std::any_of(unfinished_plans_.begin(), unfinished_plans_.end(),
                     [&name](const std::string& plan) { return name.starts_with(plan + "."); });
}

// Erases the records of one rollout or plan that ended before the time `oldest`. Keeps the last
// ended rollouts of each component, and the last ended plans.
std::optional<Transaction> Retention::erase_run(const std::string& oldest) const {
  std::map<std::string, std::vector<std::uint64_t>> groups;
  std::map<std::uint64_t, std::string> subjects;
  for (const auto& [subject, run] : ended_) {
    const auto line = line_of_.find(run_of(run.line));
    if (line == line_of_.end()) continue;  // no line could be written: all numbers are used up
    groups[run.group].push_back(line->second);
    subjects[line->second] = subject;
  }
  for (auto& [group, numbers] : groups) {
    if (numbers.size() <= runs_kept_min) continue;
    std::sort(numbers.begin(), numbers.end());
    numbers.resize(numbers.size() - runs_kept_min);
    for (const std::uint64_t number : numbers) {
      const std::string& subject = subjects.at(number);
      const Ended& run = ended_.at(subject);
      if (lines_.at(number).ended >= oldest || is_needed(subject, run)) continue;
      return erasing(subject, run);
    }
  }
  return std::nullopt;
}

// Returns the next transaction that erases the records of an ended rollout or plan. For a plan, the
// records of its members are erased first, by several transactions if there are many.
Transaction Retention::erasing(const std::string& subject, const Ended& run) const {
  const std::string key = std::string(key_root) + subject;
  Transaction transaction{.compares = {{.key = key, .revision = run.revision}}};
  const std::string name = subject.substr(subject.find('/') + 1);
  const auto members = run.group == plans_group ? members_.find(name) : members_.end();
  if (members != members_.end()) {
    for (const std::string& node : members->second) {
      transaction.erases.push_back({key_of(KeyKind::node_plan, {node, name})});
      if (transaction.erases.size() == members_at_once) return transaction;
    }
  }
  transaction.erases.push_back({key});
  transaction.erases.push_back({key_below(key), true});
  return transaction;
}

}  // namespace fleet
