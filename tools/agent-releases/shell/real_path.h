// Returns the absolute path of a file without links, `.` and `..`. If there is no such file,
// returns nothing, and errno says why.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace agent_releases {

[[nodiscard]] inline std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

}  // namespace agent_releases
