// The supervisor's texts for people: sentences for the log, and for the member `reason` of
// messages. This file decides nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/errno_name.h"
#include "base/form.h"
#include "upgrader/core/state.h"

namespace upgrader {

// Returns a duration as on the command line: "90s", "5m", "250ms".
[[nodiscard]] std::string in_words(Duration duration);
// Returns the agent's name, such as "generation 2 (version 1.1)".
[[nodiscard]] std::string in_words(const Agent& agent);

namespace words {

// A clause of log lines about an agent that has not said `hello`: perhaps the agent does not speak
// the protocol.
inline constexpr const char* may_not_speak =
    "it may not speak agent-protocol(7); --adapter=agentify runs programs that do not";

// Returns a duration rounded up to whole seconds, as "5s" or "2m".
[[nodiscard]] std::string in_whole_seconds(Duration time);
// Returns the whole time that an agent was given, as "within 5s" or "within 65s in all, extended
// from 5s".
[[nodiscard]] std::string within(const Agent& agent);
// Returns a clause for the end of a log line about a failed agent that has never said `hello`:
// perhaps it does not speak the protocol. Returns an empty text if the agent has said `hello`, or
// while Agent::hello_deadline is set.
[[nodiscard]] std::string hint(const Agent& agent);
// Returns the reason after a colon, as ": no network", or an empty text without a reason.
[[nodiscard]] std::string behind_colon(const std::optional<std::string>& reason);
// Returns the end of a log line, such as "the upgrader ends with status 3".
[[nodiscard]] std::string ends_with(int status);

// Returns why an agent failed that exited before it was activated: the reason in its `unfit`, or
// how its process ended.
[[nodiscard]] std::string failed_to_start(const Agent& gone, const Ending& ending);
[[nodiscard]] std::string closed_its_pipe(const Agent& agent);
// Returns the log line about a failed upgrade: "generation 2: ...; upgrade u7 failed at its start;
// generation 1 stays active".
[[nodiscard]] std::string failed(const UpgradeUnderWay& upgrade,
                                 const agent_protocol::Failure& failure,
                                 const std::optional<Agent>& incumbent);

// Returns the log line about a refused request: "request r1 (confirm) refused: ...".
[[nodiscard]] std::string request_refused(const std::string& name, std::string_view type,
                                          std::string_view reason);
// Makes a failure in the form in which it is sent to agents. `ending` is null if no process has
// ended. `error` is an errno value, or 0.
[[nodiscard]] agent_protocol::Failure failure_of(const std::string& id, agent_protocol::Stage stage,
                                                 const std::string& reason, int error,
                                                 const Ending* ending);
// Returns a clause that says why the first agent failed, such as "generation 1 (version 2.0)
// failed: not ready within 5m".
[[nodiscard]] std::string first_failed(const agent_protocol::PastFailure& failure);

// Returns "upgrade u7 failed at its start: ...", with at most `bytes_max` bytes of the reason.
[[nodiscard]] std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max);

}  // namespace words

}  // namespace upgrader
