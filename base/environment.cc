#include "base/environment.h"

#include <fcntl.h>

#include <cstring>
#include <limits>

#include "base/descriptors.h"

namespace upgrader {

std::optional<std::string_view> value_of(const char* const* entries, std::string_view name) {
  for (; *entries != nullptr; ++entries) {
    if (std::strncmp(*entries, name.data(), name.size()) != 0) continue;
    if ((*entries)[name.size()] == '=') return *entries + name.size() + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_in(std::optional<std::string_view> value, std::int64_t max) {
  return value ? whole_number(*value, max) : std::nullopt;
}

std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid) {
  if (number_in(value_of(inherited, "LISTEN_PID")) != own_pid) return std::nullopt;
  const std::optional<std::int64_t> count =
      number_in(value_of(inherited, "LISTEN_FDS"), std::numeric_limits<int>::max());
  if (!count) return std::nullopt;
  for (int i = 0; i < *count; ++i) {
    if (::fcntl(first_passed_descriptor + i, F_GETFD) < 0) return std::nullopt;
  }
  return static_cast<int>(*count);
}

}  // namespace upgrader
