// Wakes a follower by a single descriptor, which becomes readable when a timer has run out, a
// directory has changed or a process has exited.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "base/owned_fd.h"

namespace agent_releases {

class Wakeups {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static Result<Wakeups> make();
  [[nodiscard]] int descriptor() const { return all_.get(); }

  // Watches a directory. Returns false if the system cannot watch it. The caller must then look at
  // the directory at intervals.
  bool watch(const std::string& directory);

  // Wakes the follower when the descriptor is readable, until the descriptor is closed.
  void watch(int descriptor);

  // Wakes the follower at the time `when`. If `when` is absent, the timer is stopped.
  void set(std::optional<Clock::time_point> when);

  // Reads the causes of the wake-up. Returns true if the directory has changed.
  bool take();

 private:
  Wakeups() = default;

  upgrader::OwnedFd all_;
  upgrader::OwnedFd timer_;
  upgrader::OwnedFd changes_;
};

}  // namespace agent_releases
