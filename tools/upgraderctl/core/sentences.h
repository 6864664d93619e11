// Describes a status in sentences: agents, phases, the outcomes of upgrades, and the steps of an
// upgrade. Escapes all strings from the status, so that they cannot disturb a terminal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

inline constexpr std::array<std::string_view, 12> phase_names{
    "starting", "running",    "preparing",    "confirming",   "switching",     "replacing",
    "trial",    "abandoning", "rolling_back", "falling_back", "shutting_down", "ended"};

// Returns a name for an agent, made of the facts in the status, such as "generation 2 (version
// 1.1)".
[[nodiscard]] std::string agent_name(const AgentStatus& agent);

// Returns a name for the old or the new program of an upgrade, such as "version 1.1". If the
// version is not known, returns the release name in the path of the executable, such as "v1" for
// v1/run. Without a release name, returns the path itself.
[[nodiscard]] std::string side_name(const Side& side);

// Returns the short form of side_name() for a table, such as "1.1".
[[nodiscard]] std::string side_cell(const Side& side);

// Returns a sentence about the current phase: "generation 2 (version 1.1) is on trial".
[[nodiscard]] std::string phase_sentence(const Status& status);

// Returns the phase, how long it has lasted, and how long it may still last: "trial for 12 s, 18 s
// left". In the phase `running`, says how much time is left for the agent to say `healthy`.
[[nodiscard]] std::string phase_clause(const Status& status, Moment now);

// Returns how an upgrade ended: "committed", "cancelled", "failed at its start", "fell back, having
// failed on trial" or "ended with the upgrader".
[[nodiscard]] std::string outcome_clause(const Ending& ending);

// Returns how an upgrade ended, with the reason and the durations, but without the id.
[[nodiscard]] std::string ending_sentence(const Ending& ending);

// Returns how an upgrader has exited, as far as is known, such as "with status 125: first agent:
// ...".
[[nodiscard]] std::string end_clause(const Ended& ended);

// Returns a name for one run of an upgrader, for messages: "process 4020", or "an upgrader" if the
// pid is not known.
[[nodiscard]] std::string life_name(const Life& life);

// Makes the lines that show the steps of one upgrade as they happen, each with the time since the
// upgrade was accepted. On a terminal, a last line shows which step is awaited.
class Progress {
 public:
  // `command` is the beginning of the command lines for this upgrader, such as "upgraderctl app".
  // When the upgrade waits for a confirmation, `command` is shown with `confirm` and `cancel`
  // added. If the user need not confirm, `command` is empty.
  Progress(std::string id, std::string command)
      : id_(std::move(id)), command_(std::move(command)) {}

  // Returns one line for each step that `status` shows for the first time.
  [[nodiscard]] std::vector<std::string> take(const Status& status);

  // Returns the line about the next step, at most `columns` wide. The line has a progress bar if
  // that step has a deadline.
  [[nodiscard]] static std::string line(const Status& status, Moment now, std::size_t columns);

 private:
  enum Step { accepted, ready, gate, stop_sent, stopped, activated, steps };

  void tell(Step step, const std::optional<Moment>& when, const std::string& what);
  void tell_ready(const Status& status);
  void tell_phase(const Status& status);

  std::string id_;
  std::string command_;
  std::optional<Moment> begun_;
  std::string old_agent_ = "the old agent";
  bool told_[steps] = {};
  std::string phase_;  // the last phase for which a line was made
  std::vector<std::string> lines_;
};

}  // namespace upgraderctl
