// Functions that make the single steps and whole parts of the scripts of checks.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tools/agent-conformance/script.h"

namespace conformance {

[[nodiscard]] Script join(std::initializer_list<Script> parts);

// Starts a first agent. When it says hello, sends it `welcome`, unless that is empty.
[[nodiscard]] Step start_first(const std::string& welcome, Start terms = {});
// Starts a candidate, and welcomes it as generation `generation`.
[[nodiscard]] Step start_candidate(int agent, int generation, std::string_view previous_version);

[[nodiscard]] Step await(int agent, Step::What what, Duration time = {});
[[nodiscard]] Step tell(int agent, std::string line);
[[nodiscard]] Step tell_activate(int agent, std::string line);
[[nodiscard]] Step tell_stop(int agent, std::string line, std::string_view upgrade = {});
[[nodiscard]] Step hang_up(int agent);
[[nodiscard]] Step send_sigterm(int agent);
[[nodiscard]] Step watch(Duration time);
[[nodiscard]] Step taken(int agent);
[[nodiscard]] Step look(int agent);
[[nodiscard]] Step of_kind(Step::Kind kind, int agent = 0);
[[nodiscard]] Step examine(Judge judge);

// The next three functions make scripts for a first agent. After held(), the agent is ready and
// held. After active(), it is active. With stopped_for_upgrade(), an active agent stops for an
// upgrade.
[[nodiscard]] Script held(Start terms = {});
[[nodiscard]] Script active(Start terms = {});
[[nodiscard]] Script stopped_for_upgrade(const Terms& terms);
// Makes the script that starts a candidate and activates it with the line `activate_line`.
[[nodiscard]] Script active_candidate(const std::string& activate_line);

}  // namespace conformance
