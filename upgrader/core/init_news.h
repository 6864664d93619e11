// The facts of which init is notified, as plain data. init_messages.h decides which messages are
// made from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "upgrader/core/event.h"

namespace upgrader {

struct State;

// An agent for which the upgrader waits: for its `ready` or `healthy`, or for its exit. While the
// service starts or stops, init waits as well, but only for a limited time, which must not end
// before the agent's deadline.
struct InitWait {
  enum class What { ready, stopped };

  What what = What::ready;
  Generation generation = 0;
  Time deadline{};
  // True if the deadline may be later than the end of init's own time limit for a start or a stop.
  bool extended = false;

  bool operator==(const InitWait&) const = default;
};

struct InitNews {
  // True if an agent is active and, if it has the feature readiness, has said `healthy`.
  bool active = false;
  bool stopping = false;
  bool vouched = true;  // no active agent has missed its heartbeat: WATCHDOG=1 may be sent
  // an upgrade is under way that was requested by a signal or an operator, not by an agent
  bool reloading = false;
  // The number of upgrades that were requested by a signal or an operator, the refused ones
  // included. When it changes, init may have to be sent RELOADING=1.
  std::int64_t reloads = 0;
  std::optional<InitWait> wait;  // set while the upgrader waits for an agent
  std::string status;            // the status line for people, as in STATUS=
  std::optional<Time> until;     // the time limit of the phase that `status` describes

  bool operator==(const InitNews&) const = default;
};

[[nodiscard]] InitNews init_news(const State& state);

}  // namespace upgrader
