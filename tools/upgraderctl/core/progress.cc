#include "tools/upgraderctl/core/progress.h"

#include <algorithm>
#include <utility>

#include "base/shown.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

constexpr std::size_t bar_columns = 20;

// Returns a time in seconds with three decimals, aligned to the right in its column.
std::string since(const std::optional<Moment>& begun, const std::optional<Moment>& when) {
  constexpr std::size_t column = 9;
  if (!begun || !when) return std::string(column, ' ');
  const std::int64_t ms = std::max<std::int64_t>((*when - *begun).count(), 0);
  std::string digits = std::to_string(ms % 1'000);
  digits.insert(0, 3 - digits.size(), '0');
  const std::string text = "+" + std::to_string(ms / 1'000) + "." + digits + "s";
  return std::string(text.size() < column ? column - text.size() : 0, ' ') + text;
}

// Returns the name of the new agent: the candidate or, if there is no candidate any more, the
// active agent.
std::string newcomer(const Status& status) {
  if (status.candidate) return agent_name(*status.candidate);
  return status.active ? agent_name(*status.active) : "the candidate";
}

std::string accepted_text(const Status& status) {
  const std::string text = "upgrade " + shown(status.upgrade->id) + " is accepted";
  std::string executable = status.upgrade->executable;
  if (executable.empty() && status.candidate) executable = status.candidate->executable;
  return executable.empty() ? text : text + ": " + shown(executable);
}

std::string activated_text(const Status& status) {
  const std::string active = status.active ? agent_name(*status.active) : "the candidate";
  if (!status.upgrade->trial_ms) return active + " is active";
  return active + " is active, on trial for " + show_duration(Duration{*status.upgrade->trial_ms});
}

// Returns true for phases in which an upgrade is undone or the upgrader ends. They are not among
// the steps of an upgrade that are always shown, so they get lines of their own.
bool is_told_by_itself(const std::string& phase) {
  return phase == "replacing" || phase == "abandoning" || phase == "rolling_back" ||
         phase == "falling_back" || phase == "shutting_down";
}

std::string bar(const Status& status, Moment now) {
  if (!status.since || !status.deadline || *status.deadline <= *status.since) return "";
  const double whole = static_cast<double>((*status.deadline - *status.since).count());
  const double part = static_cast<double>((now - *status.since).count());
  const auto full = static_cast<std::size_t>(std::clamp(part / whole, 0.0, 1.0) * bar_columns);
  return "[" + std::string(full, '#') + std::string(bar_columns - full, '.') + "] ";
}

}  // namespace

std::vector<std::string> Progress::take(const Status& status) {
  if (is_under_way(status, id_)) {
    const UpgradeStatus& upgrade = *status.upgrade;
    if (!begun_) begun_ = upgrade.accepted;
    if (status.active && !upgrade.activated) old_agent_ = agent_name(*status.active);
    tell(accepted, upgrade.accepted, accepted_text(status));
    const bool is_sequential =
        upgrade.ready && upgrade.stopped && *upgrade.stopped < *upgrade.ready;
    if (upgrade.ready && !is_sequential) tell_ready(status);
    if (status.phase == "confirming" && !command_.empty()) {
      tell(gate, status.since,
           "the gate is closed: `" + command_ + " confirm` opens it, `" + command_ +
               " cancel` gives the upgrade up");
    }
    if (upgrade.stop_sent) tell(stop_sent, upgrade.stop_sent, old_agent_ + " is told to stop");
    if (upgrade.stopped) tell(stopped, upgrade.stopped, "it has stopped");
    if (is_sequential) tell_ready(status);
    if (upgrade.activated) tell(activated, upgrade.activated, activated_text(status));
    tell_phase(status);
  }
  return std::exchange(lines_, {});
}

void Progress::tell(Step step, const std::optional<Moment>& when, const std::string& what) {
  if (std::exchange(told_[step], true)) return;
  lines_.push_back(since(begun_, when) + "  " + what);
}

void Progress::tell_ready(const Status& status) {
  tell(ready, status.upgrade->ready, newcomer(status) + " is ready");
}

void Progress::tell_phase(const Status& status) {
  if (!is_told_by_itself(status.phase) || phase_ == status.phase) return;
  phase_ = status.phase;
  lines_.push_back(since(begun_, status.since) + "  " + phase_sentence(status));
}

std::string Progress::line(const Status& status, Moment now, std::size_t columns) {
  return cut(bar(status, now) + phase_clause(status, now) + ": " + phase_sentence(status), columns);
}

}  // namespace upgraderctl
