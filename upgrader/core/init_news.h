// The facts about a state that init is notified of, as plain data. init_system.h sends them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "upgrader/core/event.h"

namespace upgrader {

struct State;

// The `ready` or the exit of an agent for which the upgrader waits while init itself waits for the
// service to start or to stop. Init is told how long that may still take.
struct InitWait {
  enum class What { ready, stopped };

  What what = What::ready;
  Generation generation = 0;
  Time deadline{};
  // Init expects a shorter wait, since the agent has sent `extend` or is the way back at boot.
  bool extended = false;

  bool operator==(const InitWait&) const = default;
};

struct InitNews {
  bool active = false;  // an agent is active, and has said `healthy` if it has to
  bool stopping = false;
  bool vouched = true;           // no active agent is silent: WATCHDOG=1 may be sent
  bool reloading = false;        // an upgrade that no agent asked for is under way
  std::int64_t reloads = 0;      // how many of these upgrades were requested, refused ones included
  std::optional<InitWait> wait;  // for a first agent, or for one that was told to stop
  std::string status;            // one line for people
  std::optional<Time> until;     // the time limit of what `status` describes

  bool operator==(const InitNews&) const = default;
};

[[nodiscard]] InitNews init_news(const State& state);

}  // namespace upgrader
