// The upgrader's type of time, in milliseconds. State machines read no clock: they get the time as
// an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace upgrader {

using Duration = std::chrono::milliseconds;
// a point in time: milliseconds on a monotonic clock
using Time = std::chrono::milliseconds;

[[nodiscard]] inline std::optional<Time> earlier_of(std::optional<Time> one,
                                                    std::optional<Time> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace upgrader
