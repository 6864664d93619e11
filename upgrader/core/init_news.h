// The facts about a state that init is notified of, as plain data, and how often it is sent a
// message. init_system.h sends them.
#pragma once

#include <array>
#include <cstddef>
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

// The most datagrams a second that init gets because of what agents do.
inline constexpr std::size_t datagrams_a_second = 10;
// The number of these that are reserved for READY=1 and STOPPING=1, which never wait.
inline constexpr std::size_t datagrams_kept = 2;

// Decides when a message may be sent.
class Pace {
 public:
  // Returns the time at which the next message that may wait can be sent, or nothing if that is
  // now.
  [[nodiscard]] std::optional<Time> next() const {
    const std::optional<Time>& oldest = last_[oldest_];
    if (!oldest) return std::nullopt;
    return *oldest + std::chrono::seconds(1);
  }

  // Records that a message has been sent.
  void note(Time now) {
    last_[oldest_] = now;
    oldest_ = (oldest_ + 1) % last_.size();
  }

 private:
  std::array<std::optional<Time>, datagrams_a_second - datagrams_kept> last_{};
  std::size_t oldest_ = 0;
};

}  // namespace upgrader
