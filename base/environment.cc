#include "base/environment.h"

#include <fcntl.h>

#include <cstdlib>
#include <limits>

#include "base/descriptors.h"

namespace upgrader {

std::optional<std::int64_t> number_in(const char* variable, std::int64_t max) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? whole_number(value, max) : std::nullopt;
}

std::optional<int> passed_sockets(pid_t own_pid) {
  if (number_in("LISTEN_PID") != own_pid) return std::nullopt;
  const std::optional<std::int64_t> count =
      number_in("LISTEN_FDS", std::numeric_limits<int>::max());
  if (!count) return std::nullopt;
  for (int i = 0; i < *count; ++i) {
    if (::fcntl(first_passed_descriptor + i, F_GETFD) < 0) return std::nullopt;
  }
  return static_cast<int>(*count);
}

}  // namespace upgrader
