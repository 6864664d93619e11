// Measures the resources of a process by reading /proc: descriptors, children, threads, memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace endurance {

struct Measure {
  std::vector<std::string> descriptors;  // the kinds of the open descriptors, sorted
  std::size_t children = 0;
  std::size_t zombies = 0;
  std::size_t threads = 0;
  long rss_kb = 0;
  long private_kb = 0;

  [[nodiscard]] std::string text() const;
};

Measure measure(pid_t pid);

inline constexpr long drift_kb_max = 64;

// Compares two measurements. Returns as text the resources that have grown or changed from `base`
// to `end`, or "" if there are none.
std::string growth(const Measure& base, const Measure& end);

}  // namespace endurance
