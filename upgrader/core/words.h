// What the supervisor says to people: sentences for the log and for `reason`. Decides nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/wire/form.h"
#include "upgrader/core/errno_name.h"
#include "upgrader/core/state.h"

namespace upgrader {

using agent_protocol::operator""_with;

// "90s", "5m", "250ms": as on the command line.
[[nodiscard]] std::string in_words(Duration duration);
// "generation 2 (version 1.1)"
[[nodiscard]] std::string in_words(const Agent& agent);

namespace words {

// Of an agent that has not said `hello`.
inline constexpr const char* may_not_speak =
    "it may not speak agent-protocol(7); --adapter=agentify runs programs that do not";
[[nodiscard]] std::string stop_reason_clause(agent_protocol::StopReason reason);
[[nodiscard]] std::string accepted(const UpgradeUnderWay& upgrade);

// ": no network", or nothing.
[[nodiscard]] std::string behind_colon(const std::optional<std::string>& reason);
// "the upgrader ends with status 3"
[[nodiscard]] std::string ends_with(int status);

// How an active agent ended: "generation 2 exited with status 0 after its clean stop".
[[nodiscard]] std::string exit_sentence(const Agent& gone, const Ending& ending);
// Why an agent that exited while held was not fit: its own last words, or how it ended.
[[nodiscard]] std::string failed_to_start(const Agent& gone, const Ending& ending);
// "unfit: no network"
[[nodiscard]] std::string unfit(const std::string& reason);
[[nodiscard]] std::string closed_its_pipe(const Agent& agent);
[[nodiscard]] std::string unclean_stop(const Agent& gone, const Ending& ending);
// It was late, with all the time that it was given.
[[nodiscard]] std::string not_ready(const Agent& agent);
// It was activated, and has not said that it works in all that time.
[[nodiscard]] std::string not_healthy(const Agent& agent);
// Deadlines are judged late, by so much at most.
[[nodiscard]] std::string put_off(Duration late);
// Which deadline an agent missed, for which it is killed.
[[nodiscard]] std::string missed_deadline(const Agent& agent);
// "generation 1 failed: not ready within 5m"
[[nodiscard]] std::string failed(const Agent& agent, const std::string& reason);
// "generation 2: ...; upgrade u7 failed at its start; generation 1 stays active"
[[nodiscard]] std::string failed(const UpgradeUnderWay& upgrade,
                                 const agent_protocol::Failure& failure,
                                 const std::optional<Agent>& incumbent);

// "upgrade u7 refused: ..."
[[nodiscard]] std::string upgrade_refused(const std::string& id, const std::string& reason);
// "request r1 (confirm) refused: ..."
[[nodiscard]] std::string request_refused(const std::string& name, std::string_view type,
                                          std::string_view reason);
// A failure as agents are told of it. `ending` may be null, and `errno_name` empty.
[[nodiscard]] agent_protocol::Failure failure_of(const std::string& id, agent_protocol::Stage stage,
                                                 const std::string& reason,
                                                 std::string_view errno_name, const Ending* ending);
// Why a first agent is not kept: "generation 1 (version 2.0) failed: not ready within 5m".
[[nodiscard]] std::string first_failed(const agent_protocol::PastFailure& failure);

// "upgrade u7 failed at its start: ...", with at most so much of the reason.
[[nodiscard]] std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max);

}  // namespace words

}  // namespace upgrader

namespace agent_protocol {

template <>
struct ValueOf<upgrader::Agent> : ValueInWords<const upgrader::Agent&, upgrader::in_words> {};
template <>
struct ValueOf<upgrader::Ending> : ValueInWords<const upgrader::Ending&, upgrader::in_words> {};
template <>
struct ValueOf<upgrader::Duration> : ValueInWords<upgrader::Duration, upgrader::in_words> {};
template <>
struct ValueOf<upgrader::SystemError> : ValueInWords<upgrader::SystemError, upgrader::in_words> {};

}  // namespace agent_protocol
