#include "tools/upgraderctl/core/sentences.h"

#include <algorithm>
#include <utility>

#include "base/shown.h"

namespace upgraderctl {

namespace {

// Returns the last component of a path.
std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// Returns true for a name that contains a version: "1.2.3", "v1", "agent-1.2.3", "agent-v1.2.3".
bool names_version(std::string_view part) {
  const auto begins = [&](std::size_t at) {
    return is_digit(part, at) || (part.substr(at, 1) == "v" && is_digit(part, at + 1));
  };
  if (begins(0)) return true;
  for (std::size_t at = part.find('-'); at != std::string_view::npos; at = part.find('-', at + 1)) {
    if (begins(at + 1)) return true;
  }
  return false;
}

// Returns the last component of the path that contains a version, such as "v1" for v1/run. If no
// component contains a version, returns the last component of the path.
std::string_view release_part(std::string_view path) {
  const std::string_view last = last_part(path);
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = last_part(rest);
    if (names_version(part)) return part;
    rest.remove_suffix(part.size());
    while (rest.ends_with('/'))
      rest.remove_suffix(1);
  }
  return last;
}

std::string name_or(const std::optional<AgentStatus>& agent, std::string_view otherwise) {
  return agent ? agent_name(*agent) : std::string(otherwise);
}

// Describes the phase in which the old agent stops and the next agent is not active yet.
std::string sentence_of_switching(const Status& status) {
  if (!status.active) return "the old agent has stopped and has yet to be followed";
  return agent_name(*status.active) + " is told to stop";
}

std::string stage_clause(const std::string& stage) {
  if (stage.empty()) return "";
  if (stage == "request") return "as it was asked for";
  if (stage == "spawn") return "when its process was started";
  if (stage == "start") return "at its start";
  if (stage == "confirm") return "at the gate";
  if (stage == "cancel") return "by being cancelled";
  if (stage == "stop") return "when the old agent stopped";
  if (stage == "trial") return "on trial";
  if (stage == "commit") return "at the commit";
  if (stage == "shutdown") return "at the shutdown";
  return "at stage " + shown(stage);
}

// Returns the known durations of an upgrade: "ready after 400 ms, handed over in 24 us". The first
// is the time until the new agent was ready. The second is the time in which no agent was active;
// the daemon of an adapter such as agentify may begin to serve later. If the upgrade has failed,
// the text begins with "candidate", because the rest of the sentence is then about the old agent.
std::string took_clause(const Ending& ending) {
  std::string clause;
  if (ending.start_ms) {
    if (ending.outcome != "committed") clause += "candidate ";
    clause += "ready after " + show_duration(Duration{*ending.start_ms});
  }
  if (ending.gap_us) {
    if (!clause.empty()) clause += ", ";
    clause += "handed over in " + show_microseconds(*ending.gap_us);
  }
  return clause;
}

std::string joined(std::string_view one, std::string_view separator, std::string_view other) {
  if (one.empty() || other.empty()) return std::string(one) + std::string(other);
  return std::string(one) + std::string(separator) + std::string(other);
}

}  // namespace

std::string agent_name(const AgentStatus& agent) {
  std::string name = agent.generation ? "generation " + std::to_string(*agent.generation) : "";
  if (!agent.version.empty()) {
    const std::string version = "version " + shown(agent.version);
    name = name.empty() ? version : name + " (" + version + ")";
  }
  if (name.empty()) name = shown(release_part(agent.executable));
  return name.empty() ? "an agent" : name;
}

std::string side_cell(const Side& side) {
  const std::string_view text =
      side.version.empty() ? release_part(side.executable) : std::string_view(side.version);
  return text.empty() ? "-" : shown(text);
}

std::string side_name(const Side& side) {
  if (!side.version.empty()) return "version " + shown(side.version);
  const std::string name = shown(release_part(side.executable));
  return name.empty() ? "the agent" : name;
}

std::string phase_sentence(const Status& status) {
  const std::string& phase = status.phase;
  const std::string candidate = name_or(status.candidate, "the candidate");
  const std::string active = name_or(status.active, "the active agent");
  if (phase == "starting") return name_or(status.candidate, "the first agent") + " is starting";
  if (phase == "running") return active + " is running";
  if (phase == "preparing") return candidate + " is starting; " + active + " serves on";
  if (phase == "confirming") return candidate + " is ready and waits at the gate for confirm";
  if (phase == "switching") return sentence_of_switching(status);
  if (phase == "replacing") return "nobody is active; " + candidate + " is starting";
  if (phase == "trial") return active + " is on trial";
  if (phase == "abandoning") {
    return "the candidate has been killed and has not exited yet; " + active + " serves on";
  }
  if (phase == "rolling_back") return active + " has failed and is told to stop";
  if (phase == "falling_back") {
    return "nobody is active; " + name_or(status.standby, "the previous program") +
           " is starting as the fallback";
  }
  if (phase == "shutting_down") return "the end was asked for; agents are told to stop";
  if (phase == "ended") return "the upgrader has ended";
  return phase.empty() ? "the phase is not known" : "phase " + shown(phase);
}

std::string phase_clause(const Status& status, Moment now) {
  std::string clause = status.phase.empty() ? "in a phase that is not known" : shown(status.phase);
  if (status.since) clause += " for " + show_duration(now - *status.since);
  if (!status.deadline) return clause;
  // The phase `running` has a deadline only while the upgrader waits for the message `healthy` of
  // the active agent.
  const bool is_for_healthy = status.phase == "running";
  if (*status.deadline >= now) {
    return clause + ", " + show_duration(*status.deadline - now) + " left" +
           (is_for_healthy ? " for the agent to say healthy" : "");
  }
  if (is_for_healthy) {
    return clause + ", the agent's time to say healthy ended " +
           show_duration(now - *status.deadline) + " ago";
  }
  return clause + ", " + show_duration(now - *status.deadline) + " late";
}

std::string outcome_clause(const Ending& ending) {
  if (ending.outcome == "committed") return "committed";
  const std::string stage = stage_clause(ending.stage);
  if (ending.outcome == "kept" && ending.stage == "cancel") return "cancelled";
  if (ending.outcome == "kept") return joined("failed", " ", stage);
  if (ending.outcome == "fell_back") return joined("fell back", ", having failed ", stage);
  if (ending.outcome == "ended") return "ended with the upgrader";
  return ending.outcome.empty() ? "ended, nobody says how" : shown(ending.outcome);
}

std::string ending_sentence(const Ending& ending) {
  const std::string outcome = outcome_clause(ending);
  const std::string reason = shown(ending.reason);
  // If the reason begins with the outcome, as in "cancelled by the control directory", only the
  // reason is written. Otherwise the outcome would be written twice.
  std::string sentence = reason.starts_with(outcome) ? reason : joined(outcome, ": ", reason);
  if (ending.outcome == "committed") sentence += "; " + side_name(ending.to) + " is active";
  if (ending.outcome == "kept") sentence += "; " + side_name(ending.from) + " stayed active";
  if (ending.outcome == "fell_back") sentence += "; " + side_name(ending.from) + " is active again";
  const std::string took = took_clause(ending);
  return took.empty() ? sentence : sentence + " (" + took + ")";
}

std::string end_clause(const Ended& ended) {
  const std::string status =
      ended.exit_status ? "with status " + std::to_string(*ended.exit_status) : "";
  return joined(status, ": ", shown(ended.reason));
}

std::string life_name(const Life& life) {
  return life.pid ? "process " + std::to_string(*life.pid) : "an upgrader";
}

// ---- the lines that show the steps of an upgrade

namespace {

constexpr std::size_t bar_columns = 20;

// Returns the time from `begun` to `when` as text such as "+1.250s", aligned to the right in its
// column. If one of the two is unknown, the column stays blank.
std::string since(const std::optional<Moment>& begun, const std::optional<Moment>& when) {
  constexpr std::size_t column = 9;
  if (!begun || !when) return std::string(column, ' ');
  const std::int64_t ms = std::max<std::int64_t>((*when - *begun).count(), 0);
  std::string digits = std::to_string(ms % 1'000);
  digits.insert(0, 3 - digits.size(), '0');
  const std::string text = "+" + std::to_string(ms / 1'000) + "." + digits + "s";
  return std::string(text.size() < column ? column - text.size() : 0, ' ') + text;
}

// Returns the name of the new agent: the candidate or, once the candidate has become active, the
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

// Returns true for phases in which an upgrade is undone or the upgrader ends. The steps of an
// ordinary upgrade do not include these phases, so each of them gets a line of its own.
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
