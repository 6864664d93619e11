// What wakes a follower: a timer, a directory that changes, a process that exits; all behind one
// descriptor.
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

  // Watches a directory. Where the system cannot, false: then somebody has to look now and then.
  bool watch(const std::string& directory);

  // Watches a descriptor until it is closed.
  void watch(int descriptor);

  // Wakes at that time, or never.
  void set(std::optional<Clock::time_point> when);

  // Takes in what has woken us. True if the directory has changed.
  bool take();

 private:
  Wakeups() = default;

  upgrader::OwnedFd all_;
  upgrader::OwnedFd timer_;
  upgrader::OwnedFd changes_;
};

}  // namespace agent_releases
