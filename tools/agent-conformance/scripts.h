// The steps of which the scripts of checks are put together.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tools/agent-conformance/script.h"

namespace conformance {

[[nodiscard]] Script join(std::initializer_list<Script> parts);

// A first agent that is started, and told this welcome; empty: none.
[[nodiscard]] Step start_first(const std::string& welcome, Start terms = {});
// An agent that is a candidate in `generation`.
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

// A first agent that is ready, one that is active, and the stop of one for an upgrade.
[[nodiscard]] Script held(Start terms = {});
[[nodiscard]] Script active(Start terms = {});
[[nodiscard]] Script stopped_for_upgrade(const Terms& terms);
// A candidate that has been made active by this line.
[[nodiscard]] Script active_candidate(const std::string& activate_line);

}  // namespace conformance
