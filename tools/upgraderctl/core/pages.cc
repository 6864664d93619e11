#include "tools/upgraderctl/core/pages.h"

#include <algorithm>
#include <string_view>

#include "base/shown.h"
#include "base/table.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {

namespace {

std::string ago(const std::optional<Moment>& when, Moment now) {
  return when ? show_duration(now - *when) + " ago" : "at an unknown time";
}

std::string command_of(const AgentStatus& agent) {
  std::string command = shown(agent.executable);
  for (const std::string& arg : agent.args)
    command += " " + shown(arg);
  return agent.args_omitted ? command + " (and arguments that are too long to be told)" : command;
}

// Adds the table rows about one agent: its name, process and age, its command line, its own status,
// and a warning if its heartbeats are late.
void add_agent(std::vector<Row>& rows, const std::string& label,
               const std::optional<AgentStatus>& agent, Moment now) {
  if (!agent) return;
  std::string who = agent_name(*agent);
  if (agent->pid) who += ", process " + std::to_string(*agent->pid);
  if (agent->activated) {
    who += ", active for " + show_duration(now - *agent->activated);
  } else if (agent->started) {
    who += ", held, started " + ago(agent->started, now);
  }
  if (agent->role == "fallback") who += ", a fallback";
  rows.push_back({label, who});
  if (!agent->executable.empty()) rows.push_back({"", command_of(*agent)});
  if (!agent->status.empty()) rows.push_back({"", "says: " + shown(agent->status)});
  if (agent->silent) rows.push_back({"", "is silent: its heartbeats are overdue"});
}

std::string by(const std::string& origin) {
  if (origin == "agent") return ", asked for by the agent";
  if (origin == "signal") return ", asked for by SIGUSR2";
  if (origin == "control") return ", asked for by the control directory";
  if (origin == "boot") return ", since what AGENT names failed, or did not last";
  return "";
}

void add_upgrade(std::vector<Row>& rows, const Status& status, Moment now) {
  if (!status.upgrade) return;
  const UpgradeStatus& upgrade = *status.upgrade;
  rows.push_back({"upgrade", shown(upgrade.id) + by(upgrade.origin) +
                                 (upgrade.accepted ? ", " + ago(upgrade.accepted, now) : "")});
}

std::string from_to(const Ending& ending) {
  return side_name(ending.from) + " to " + side_name(ending.to);
}

void add_last_ending(std::vector<Row>& rows, const Status& status, Moment now) {
  if (status.endings.empty()) return;
  const Ending& last = status.endings.front();
  rows.push_back({"last", shown(last.id) + ", " + ago(last.ended, now) + ", " + from_to(last)});
  rows.push_back({"", ending_sentence(last)});
}

void add_previous_life(std::vector<Row>& rows, const std::optional<Status>& previous) {
  if (!previous) return;
  if (!previous->ended) {
    rows.push_back({"before", "the upgrader's previous life ended without a last word, in phase " +
                                  shown(previous->phase)});
    return;
  }
  const Ended& ended = *previous->ended;
  rows.push_back({"before", "the upgrader's previous life ended" +
                                (ended.at ? " on " + show_moment(*ended.at) : "") + " " +
                                end_clause(ended)});
}

std::string upgrader_text(const Status& status, Hearing hearing, Moment now) {
  std::string text = life_name(status.upgrader);
  if (!status.upgrader.version.empty()) text += ", version " + shown(status.upgrader.version);
  if (status.upgrader.since) text += ", started " + ago(status.upgrader.since, now);
  if (status.ended) return text;
  const std::string clause = hearing_clause(hearing);
  return clause.empty() ? text : text + "; it " + clause;
}

// Returns the word that replaces the phase if the phase in the status may be out of date. Returns
// an empty text if the phase is current, or if it is not known whether it is.
std::string word_for_old_phase(Hearing hearing) {
  if (hearing == Hearing::gone) return "gone";
  if (hearing == Hearing::unseen) return "unseen";
  if (hearing == Hearing::stopped) return "stopped";
  if (hearing == Hearing::full) return "disk full";
  return "";
}

std::string phase_cell(const Status& status, Hearing hearing) {
  const std::string word = word_for_old_phase(hearing);
  return word.empty() ? shown(status.phase) : word;
}

std::string state_text(const Status& status, Hearing hearing, Moment now) {
  if (status.ended) {
    const Ended& ended = *status.ended;
    return "ended " + (ended.at ? ago(ended.at, now) + " " : "") + end_clause(ended);
  }
  if (const std::string word = word_for_old_phase(hearing); !word.empty()) {
    return word + "; the last known phase is " +
           (status.phase.empty() ? "not known" : shown(status.phase)) +
           (status.since ? ", which began " + ago(status.since, now) : "");
  }
  if (status.phase == "running") return phase_clause(status, now);
  return phase_clause(status, now) + ": " + phase_sentence(status);
}

// Returns the cell about the last upgrade in the table of `upgraderctl list`.
std::string last_cell(const Status& status, Moment now) {
  if (status.endings.empty()) return "-";
  const Ending& last = status.endings.front();
  return outcome_clause(last) + " " + ago(last.ended, now);
}

Row listed_row(const Listed& listed, Moment now) {
  if (!listed.status) return {shown(listed.name), "-", "-", "-", listed.trouble};
  const Status& status = *listed.status;
  const bool over = status.ended.has_value();
  const std::optional<Moment>& since = over ? status.ended->at : status.since;
  return {shown(listed.name), over ? "ended" : phase_cell(status, listed.hearing),
          status.active && !status.active->version.empty() ? shown(status.active->version) : "-",
          since ? show_duration(now - *since) : "-", last_cell(status, now)};
}

void add_endings(std::vector<Row>& rows, const Status& status) {
  for (const Ending& ending : status.endings) {
    rows.push_back({ending.ended ? show_moment(*ending.ended) : "-", shown(ending.id),
                    shown(ending.origin), side_cell(ending.from), side_cell(ending.to),
                    ending_sentence(ending)});
  }
}

// Adds the row for an upgrade whose outcome was not recorded: it was under way when the previous
// upgrader was killed, or when the machine lost power.
void add_cut_off(std::vector<Row>& rows, const Status& previous) {
  if (previous.ended || !previous.upgrade) return;
  const auto cell = [](const std::optional<AgentStatus>& agent) {
    return agent ? side_cell({agent->version, agent->executable}) : std::string("-");
  };
  const bool on_trial = previous.phase == "trial";
  rows.push_back({"-", shown(previous.upgrade->id), shown(previous.upgrade->origin),
                  on_trial ? "-" : cell(previous.active),
                  cell(on_trial ? previous.active : previous.candidate),
                  "not known: the upgrader ended without a last word, in phase " +
                      shown(previous.phase) + "; status tells what runs now"});
}

}  // namespace

std::vector<std::string> status_page(const Status& status, const std::optional<Status>& previous,
                                     Hearing hearing, Moment now) {
  std::vector<Row> rows{{"phase", state_text(status, hearing, now)}};
  add_agent(rows, "active", status.active, now);
  add_agent(rows, "candidate", status.candidate, now);
  add_agent(rows, "standby", status.standby, now);
  add_upgrade(rows, status, now);
  add_last_ending(rows, status, now);
  rows.push_back({"upgrader", upgrader_text(status, hearing, now)});
  add_previous_life(rows, previous);
  return in_columns(rows);
}

std::string status_line(const Status& status, Hearing hearing, Moment now) {
  std::string line = show_moment(now) + "  " + state_text(status, hearing, now);
  const std::string clause = hearing_clause(hearing);
  if (!status.ended && !clause.empty()) line += "; the upgrader " + clause;
  if (status.upgrade) line += "; upgrade " + shown(status.upgrade->id);
  if (status.active && !status.active->status.empty()) {
    line += "; says: " + shown(status.active->status);
  }
  if (!status.upgrade && !status.endings.empty()) {
    line += "; last: " + shown(status.endings.front().id) + " " +
            outcome_clause(status.endings.front());
  }
  return line;
}

std::string change_key(const Status& status, Hearing hearing) {
  constexpr char separator = '\n';
  std::string key = status.upgrader.started + separator + status.phase + separator;
  key += std::to_string(static_cast<int>(hearing)) + separator;
  if (status.active) key += agent_name(*status.active) + separator + status.active->status;
  key += separator;
  if (status.upgrade) key += status.upgrade->id;
  key += separator;
  if (!status.endings.empty()) key += status.endings.front().id;
  if (status.ended) key += separator + end_clause(*status.ended);
  return key;
}

std::vector<std::string> list_table(const std::vector<Listed>& all, Moment now) {
  std::vector<Row> rows{{"NAME", "PHASE", "VERSION", "FOR", "LAST UPGRADE"}};
  for (const Listed& listed : all)
    rows.push_back(listed_row(listed, now));
  return in_columns(rows);
}

std::vector<std::string> history_table(const std::optional<Status>& status, Hearing hearing,
                                       const std::optional<Status>& previous) {
  std::vector<Row> rows{{"ENDED", "ID", "BY", "FROM", "TO", "OUTCOME"}};
  if (status && has_gone(hearing)) add_cut_off(rows, *status);
  if (status) add_endings(rows, *status);
  if (previous && (!previous->endings.empty() || (previous->upgrade && !previous->ended))) {
    rows.push_back({"In the upgrader's previous life:"});
    add_cut_off(rows, *previous);
    add_endings(rows, *previous);
  }
  return in_columns(rows);
}

// ---- the page that the command `why` prints, about the last upgrade that has failed

namespace {

const Ending* failure_in(const std::optional<Status>& status) {
  if (!status) return nullptr;
  for (const Ending& ending : status->endings) {
    if (ending.outcome != "committed" && ending.stage != "cancel") return &ending;
  }
  return nullptr;
}

std::string end_words(const Ending& failure) {
  if (failure.signal) return "killed by signal " + std::to_string(*failure.signal);
  if (failure.exit_status) return "exited with status " + std::to_string(*failure.exit_status);
  return failure.error.empty() ? "" : "the system says " + shown(failure.error);
}

bool are_of(const LastWords& last_words, const Ending& failure) {
  if (failure.accepted && last_words.written < *failure.accepted) return false;
  return !failure.ended || last_words.written <= *failure.ended + last_words_delay_max;
}

}  // namespace

const Ending* last_failure(const std::optional<Status>& status,
                           const std::optional<Status>& previous) {
  const Ending* const now = failure_in(status);
  return now != nullptr ? now : failure_in(previous);
}

std::vector<std::string> why_page(const Ending& failure, const std::optional<LastWords>& last_words,
                                  Moment now) {
  const std::string when =
      failure.ended ? show_duration(now - *failure.ended) + " ago" : "at an unknown time";
  std::vector<Row> rows{{"upgrade", shown(failure.id) + ", " + when + ", " +
                                        side_name(failure.from) + " to " + side_name(failure.to)},
                        {"why", ending_sentence(failure)}};
  if (const std::string end = end_words(failure); !end.empty()) rows.push_back({"end", end});
  if (!last_words || !are_of(*last_words, failure)) return in_columns(rows);
  for (std::string_view rest = last_words->text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty()) rows.push_back({"wrote", shown(line)});
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return in_columns(rows);
}

}  // namespace upgraderctl
