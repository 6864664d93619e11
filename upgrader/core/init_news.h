// The facts of a state that init is notified of, as plain data. init_system sends them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "upgrader/core/event.h"

namespace upgrader {

struct State;

// An agent's `ready` or exit for which the upgrader waits while init itself waits for it: the start
// of the service, or its stop. Init is told how long that may still take.
struct InitWait {
  enum class What { ready, stopped };

  What what = What::ready;
  Generation generation = 0;
  Time deadline{};
  bool extended = false;  // it has more than init knows of: it asked, or is the way back at boot

  bool operator==(const InitWait&) const = default;
};

struct InitNews {
  bool active = false;  // some agent is active, and has said that it works where it is to
  bool stopping = false;
  bool vouched = true;           // all is as it should be: no active agent is silent
  bool reloading = false;        // an upgrade that no agent asked for is under way
  std::int64_t reloads = 0;      // such that were asked for so far, refused ones included
  std::optional<InitWait> wait;  // of a first agent, or of one that was told to stop
  std::string status;            // one line for people
  std::optional<Time> until;     // by when what the status says must be over

  bool operator==(const InitNews&) const = default;
};

[[nodiscard]] InitNews init_news(const State& state);

}  // namespace upgrader
