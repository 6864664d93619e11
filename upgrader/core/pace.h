// Limits how often init is sent a message. Only decides when; init_system.h sends.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/time.h"

namespace upgrader {

// The most datagrams a second that init gets because of what agents do.
inline constexpr std::size_t datagrams_a_second = 10;
// The number of these that are reserved for READY=1 and STOPPING=1, which never wait.
inline constexpr std::size_t datagrams_kept = 2;

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
