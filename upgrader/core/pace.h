// Keeps whoever tells init something from telling it too often. Decides only.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/time.h"

namespace upgrader {

// Init hears at most so many datagrams a second of what agents can make happen.
inline constexpr std::size_t datagrams_a_second = 10;
// Of these, so many are kept for READY=1 and STOPPING=1, which never wait.
inline constexpr std::size_t datagrams_kept = 2;

class Pace {
 public:
  // The time at which the next message that may wait can be sent; nothing if at once.
  [[nodiscard]] std::optional<Time> next() const {
    const std::optional<Time>& oldest = last_[oldest_];
    if (!oldest) return std::nullopt;
    return *oldest + std::chrono::seconds(1);
  }

  // One has gone.
  void note(Time now) {
    last_[oldest_] = now;
    oldest_ = (oldest_ + 1) % last_.size();
  }

 private:
  std::array<std::optional<Time>, datagrams_a_second - datagrams_kept> last_{};
  std::size_t oldest_ = 0;
};

}  // namespace upgrader
