// The terms of an upgrade: what the request says, and the defaults for everything else.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/wire/message.h"
#include "base/time.h"

namespace upgrader {

// The terms of one upgrade: timeouts, the gate (whether a `confirm` is awaited), the trial and
// others. A timeout of zero means no limit.
struct Terms {
  agent_protocol::Mode mode = agent_protocol::Mode::parallel;
  agent_protocol::Gate gate = agent_protocol::Gate::none;
  agent_protocol::CommitRule commit = agent_protocol::CommitRule::survive;
  Duration start_timeout{};
  Duration confirm_timeout{};
  Duration stop_timeout{};
  Duration trial{};
  agent_protocol::UncleanStop on_unclean_stop = agent_protocol::UncleanStop::fall_back;
  agent_protocol::FallbackMode fallback = agent_protocol::FallbackMode::cold;
  bool operator==(const Terms&) const = default;
};

// The settings from the command line, which never change.
struct Policy {
  Terms defaults;  // the terms of upgrades; the stop timeout also holds for a shutdown
  Duration exit_grace{};
  // The longest time between two heartbeats of an agent; zero if init does not watch the upgrader.
  Duration watchdog{};
  bool relink = false;
  // With --previous: if the first agent fails, the program of --previous may be started.
  bool previous = false;
  // With --attempts: count the starts of the upgrader in which no agent stayed active for the
  // length of a trial.
  bool attempts = false;
  bool operator==(const Policy&) const = default;
};

// Returns the terms of `request`. Members that the request leaves out come from `defaults`, with
// three exceptions:
// - If the agent requested the upgrade (`by_agent`), the default is no time limit for `confirm`.
// - For a sequential upgrade, which stops the old agent first, the default is no gate: the upgrader
//   does not wait for a `confirm`.
// - The fallback of a sequential upgrade is always started only after a failure (cold), whatever
//   the request says.
[[nodiscard]] Terms terms_of(const agent_protocol::Upgrade& request, const Terms& defaults,
                             bool by_agent);

// Returns why these terms contradict each other, or nullopt.
[[nodiscard]] std::optional<std::string> contradiction_in(const Terms& terms);

// Returns the longer of two timeouts; zero means no limit, and is the longest.
[[nodiscard]] Duration longer_of(Duration one, Duration other);

}  // namespace upgrader
