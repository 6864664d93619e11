// The upgrader's type of time, in milliseconds. Times are passed as arguments: only the loop reads
// the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace upgrader {

using Duration = std::chrono::milliseconds;
// milliseconds since some moment; only the loop knows which
using Time = std::chrono::milliseconds;

[[nodiscard]] inline std::optional<Time> earlier_of(std::optional<Time> one,
                                                    std::optional<Time> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace upgrader
