// What the supervisor says to people: sentences for the log and for `reason`. Decides nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "upgrader/core/state.h"

namespace upgrader {

// "90s", "5m", "250ms": as on the command line.
[[nodiscard]] std::string in_words(Duration duration);

namespace words {

// "generation 2"
[[nodiscard]] std::string generation(Generation generation);
// "generation 2 (version 1.1)"
[[nodiscard]] std::string who(const Agent& agent);
[[nodiscard]] std::string on_trial(Duration trial);
[[nodiscard]] std::string stop_reason_clause(agent_protocol::StopReason reason);
[[nodiscard]] std::string accepted(const UpgradeUnderWay& upgrade);

// An agent that was told to stop for an upgrade goes on, though its candidate was lost before that.
[[nodiscard]] std::string took_back(const Agent& agent, const std::optional<std::string>& reason);
// "the upgrader ends with status 3"
[[nodiscard]] std::string ends_with(int status);

// How an active agent ended: "exited with status 0 after its clean stop".
[[nodiscard]] std::string exit_sentence(const Agent& gone, const Ending& ending);
// Why an agent that exited while held was not fit: its own last words, or how it ended.
[[nodiscard]] std::string failed_to_start(const Agent& gone, const Ending& ending);
[[nodiscard]] std::string closed_its_pipe(const Agent& agent);
[[nodiscard]] std::string unclean_stop(const Agent& gone, const Ending& ending);
// It was late, with all the time that it was given.
[[nodiscard]] std::string not_ready(const Agent& agent);
// It was activated, and has not said that it works in all that time.
[[nodiscard]] std::string not_healthy(const Agent& agent);
// An agent that has not said `hello` for too long.
[[nodiscard]] std::string not_greeted(const Agent& agent);
// Deadlines are judged late, by so much at most.
[[nodiscard]] std::string put_off(Duration late);
// Which deadline an agent missed, for which it is killed.
[[nodiscard]] std::string missed_deadline(const Agent& agent);
// "upgrade u7 failed at its start: ...; generation 1 stays active"
[[nodiscard]] std::string failed(const UpgradeUnderWay& upgrade,
                                 const agent_protocol::Failure& failure,
                                 const std::optional<Agent>& incumbent);

// "request r1 (confirm) refused: ..."
[[nodiscard]] std::string request_refused(const std::string& name, std::string_view type,
                                          const std::string& reason);
// A failure as agents are told of it. `ending` may be null, and `errno_name` empty.
[[nodiscard]] agent_protocol::Failure failure_of(const std::string& id, agent_protocol::Stage stage,
                                                 const std::string& reason,
                                                 const std::string& errno_name,
                                                 const Ending* ending);
// Why a first agent is not kept: "generation 1 (version 2.0) failed: not ready within 5m".
[[nodiscard]] std::string first_failed(const agent_protocol::PastFailure& failure);

// "upgrade u7 failed at its start: ...", with at most so much of the reason.
[[nodiscard]] std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max);

}  // namespace words
}  // namespace upgrader
