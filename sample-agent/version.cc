#include "sample-agent/version.h"

#include "sample-agent/words.h"

namespace sample_agent {

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  std::string_view rest = text;
  for (std::uint32_t& number : version.numbers) {
    const auto found = to_number<std::uint32_t>(cut_off(rest, '.'));
    if (!found) return std::nullopt;
    number = *found;
  }
  if (to_string(version) != text) return std::nullopt;
  return version;
}

std::string to_string(const Version& version) {
  const auto& [first, second, third] = version.numbers;
  return std::to_string(first) + "." + std::to_string(second) + "." + std::to_string(third);
}

}  // namespace sample_agent
