// What init is to know of a state, as plain data. Telling it is init_system's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "upgrader/event.h"
#include "upgrader/time.h"

namespace upgrader {

struct State;

// What an agent is waited for, where init waits for it, too.
struct InitWait {
  enum class What { ready, stopped };

  What what = What::ready;
  Generation generation = 0;
  Time deadline{};

  bool operator==(const InitWait&) const = default;
};

struct InitNews {
  bool active = false;  // an agent is
  bool stopping = false;
  bool vouched = true;           // all is as it should be: no active agent is silent
  bool reloading = false;        // an upgrade that SIGUSR2 asked for is under way
  std::int64_t reloads = 0;      // SIGUSR2 so far, those that were refused included
  std::optional<InitWait> wait;  // of a first agent, or of one that was told to stop
  std::string status;            // one line for people
  std::optional<Time> until;     // how long what the status says may go on

  bool operator==(const InitNews&) const = default;
};

[[nodiscard]] InitNews init_news(const State& state);

}  // namespace upgrader
