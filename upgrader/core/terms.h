// The terms of an upgrade: what was asked for, with the defaults filled in; and the defaults.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/wire/message.h"
#include "base/time.h"

namespace upgrader {

// How an upgrade is to go: what was asked for, the defaults filled in. A zero timeout is no limit.
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
  Terms defaults;  // for upgrades that do not say; its stop timeout is a shutdown's, too
  Duration exit_grace{};
  Duration watchdog{};  // how far apart an agent's heartbeats may be; zero: none are wanted
  bool relink = false;
  bool previous = false;  // there may be a way back when the first agent fails
  bool attempts = false;  // it is counted how often it failed to last for the trial's time
  bool operator==(const Policy&) const = default;
};

// The terms of `request`, with `defaults` for the rest. Two exceptions: in an upgrade that the
// agent requested (`by_agent`) the gate has no limit by default; a sequential upgrade has no gate
// by default, and its fallback is always cold.
[[nodiscard]] Terms terms_of(const agent_protocol::Upgrade& request, const Terms& defaults,
                             bool by_agent);

// Why these terms cannot be had together, or nullopt.
[[nodiscard]] std::optional<std::string> contradiction_in(const Terms& terms);

// The longer of two timeouts, of which zero is no limit.
[[nodiscard]] Duration longer_of(Duration one, Duration other);

}  // namespace upgrader
