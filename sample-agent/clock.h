// The time of day, for records and for the event log.
#pragma once

#include <chrono>
#include <cstdint>

namespace sample_agent {

// Returns the time in microseconds since the epoch.
inline std::uint64_t now_us() {
  using std::chrono::duration_cast, std::chrono::microseconds, std::chrono::system_clock;
  const auto since_epoch = system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<microseconds>(since_epoch).count());
}

}  // namespace sample_agent
