// Wakes a follower by a single descriptor. The descriptor becomes readable when a timer has
// expired, a directory has changed, or a process has exited.
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

  // Watches a directory. Returns false if the system cannot watch it; then the caller must look for
  // changes at intervals.
  bool watch(const std::string& directory);

  // Makes the wake-up descriptor readable whenever `descriptor` is, until `descriptor` is closed.
  void watch(int descriptor);

  // Sets the timer to the time `when`, or stops the timer if `when` is absent.
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
