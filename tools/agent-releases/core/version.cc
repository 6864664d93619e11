// Parses, prints and compares versions.
#include "agent-releases/version.h"
#include "tools/agent-releases/core/cut_off.h"

#include <algorithm>
#include <charconv>

namespace agent_releases {
namespace {

// The most digits of a number in a version: enough for a date with a time, and few enough for a
// 64-bit integer.
constexpr std::size_t digits_max = 18;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_identifier(std::string_view text) {
  const auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_numeric(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  if (!is_numeric(text) || text.size() > digits_max) return false;
  if (text.size() > 1 && text[0] == '0') return false;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return true;
}

// Splits a text at its dots. The text is the part PRERELEASE or BUILD of a version. Returns false
// if an identifier between the dots is not valid. An empty identifier is not valid, so "1.0.0-a."
// is not a version.
bool parse_identifiers(std::string_view text, bool numbers_are_numbers,
                       std::vector<std::string>& identifiers) {
  for (bool more = true; more;) {
    more = text.find('.') != std::string_view::npos;
    const std::string_view part = cut_off(text, '.');
    if (!is_identifier(part)) return false;
    if (numbers_are_numbers && is_numeric(part) && part.size() > 1 && part[0] == '0') return false;
    identifiers.emplace_back(part);
  }
  return true;
}

std::strong_ordering compare_identifiers(const std::string& left, const std::string& right) {
  const bool number = is_numeric(left);
  if (number != is_numeric(right)) {
    return number ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (number && left.size() != right.size()) return left.size() <=> right.size();
  return left <=> right;
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  if (text.size() > version_bytes_max) return std::nullopt;
  Version version;
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    std::vector<std::string> identifiers;
    if (!parse_identifiers(text.substr(plus + 1), false, identifiers)) return std::nullopt;
    version.build = text.substr(plus + 1);
    text = text.substr(0, plus);
  }
  const std::size_t hyphen = text.find('-');
  if (hyphen != std::string_view::npos) {
    if (!parse_identifiers(text.substr(hyphen + 1), true, version.prerelease)) return std::nullopt;
    text = text.substr(0, hyphen);
  }
  if (std::ranges::count(text, '.') != 2) return std::nullopt;
  for (std::uint64_t& number : version.numbers) {
    if (!parse_number(cut_off(text, '.'), number)) return std::nullopt;
  }
  return version;
}

std::string Version::text() const {
  std::string text = std::to_string(numbers[0]) + "." + std::to_string(numbers[1]) + "." +
                     std::to_string(numbers[2]);
  char separator = '-';
  for (const std::string& identifier : prerelease) {
    text += separator + identifier;
    separator = '.';
  }
  return text;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = numbers <=> other.numbers; order != 0) return order;
  if (prerelease.empty() || other.prerelease.empty()) {
    // A pre-release is older than the release with the same numbers.
    return prerelease.empty() <=> other.prerelease.empty();
  }
  const std::size_t common = std::min(prerelease.size(), other.prerelease.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto order = compare_identifiers(prerelease[i], other.prerelease[i]);
    if (order != 0) return order;
  }
  return prerelease.size() <=> other.prerelease.size();
}

}  // namespace agent_releases
