// The contents of a status in words: agents, phases, endings. Texts that come from the status are
// escaped here, so that whatever these functions return is fit for a terminal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

inline constexpr std::array<std::string_view, 12> phase_names{
    "starting", "running",    "preparing",    "confirming",   "switching",     "replacing",
    "trial",    "abandoning", "rolling_back", "falling_back", "shutting_down", "ended"};

// "generation 2 (version 1.1)", as far as it is known.
[[nodiscard]] std::string agent_name(const AgentStatus& agent);

// "version 1.1"; where the version is not known, what the executable's path calls its release: "v1"
// of v1/run, or else the executable.
[[nodiscard]] std::string side_name(const Side& side);

// The same for a table: "1.1".
[[nodiscard]] std::string side_cell(const Side& side);

// The activity of the upgrader in this phase: "generation 2 (version 1.1) is on trial".
[[nodiscard]] std::string phase_sentence(const Status& status);

// The phase, how long it has lasted, and how long it may: "trial for 12 s, 18 s left".
[[nodiscard]] std::string phase_clause(const Status& status, Moment now);

// "committed", "cancelled", "failed at its start", "fell back, having failed on trial", "ended with
// the upgrader".
[[nodiscard]] std::string outcome_clause(const Ending& ending);

// How that upgrade ended, with the reason and what it took, without its id.
[[nodiscard]] std::string ending_sentence(const Ending& ending);

// "with status 125: first agent: ...", as far as it is known.
[[nodiscard]] std::string end_clause(const Ended& ended);

// "process 4020", or "an upgrader" where the process is not known.
[[nodiscard]] std::string life_name(const Life& life);

}  // namespace upgraderctl
