// A version: three numbers, compared one after the other.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sample_agent {

struct Version {
  std::array<std::uint32_t, 3> numbers{};
  auto operator<=>(const Version&) const = default;
};

// "1.2.3", and nothing but its one way of writing: no leading zeros.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

}  // namespace sample_agent
