// The upgrader's type of time, in milliseconds. A time is passed as an argument: only the loop
// reads the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace upgrader {

using Duration = std::chrono::milliseconds;
// a point in time: milliseconds on a monotonic clock that only the loop reads
using Time = std::chrono::milliseconds;

[[nodiscard]] inline std::optional<Time> earlier_of(std::optional<Time> one,
                                                    std::optional<Time> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace upgrader
