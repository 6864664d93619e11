// A semantic version (semver.org, 2.0.0): MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD].
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// The longest version, in bytes. A longer version would leave too little room in a file name.
inline constexpr std::size_t version_bytes_max = 128;

struct Version {
  std::array<std::uint64_t, 3> numbers{};
  std::vector<std::string> prerelease;
  std::string build;  // the part after `+`, which is not compared and not written in paths

  // Parses a version such as "1.2.3-rc.1+build". Refuses leading zeros, so that each version has
  // only one spelling.
  [[nodiscard]] static std::optional<Version> parse(std::string_view text);

  // Returns the version without its build, as it is written in paths.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_prerelease() const { return !prerelease.empty(); }

  // Compares by precedence: two versions that differ only in their builds are equal.
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
};

}  // namespace agent_releases
