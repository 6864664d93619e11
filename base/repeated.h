// Repeats a system call that a signal has interrupted.
#pragma once

#include <cerrno>

namespace upgrader {

// Makes a system call again and again until no signal interrupts it, and returns its result. `call`
// returns a negative number and sets errno if it fails.
[[nodiscard]] auto repeated(const auto& call) {
  auto result = call();
  while (result < 0 && errno == EINTR)
    result = call();
  return result;
}

}  // namespace upgrader
