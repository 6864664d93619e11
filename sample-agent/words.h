// Functions for strings: they split lines of this program's own small files, parse numbers, and
// shorten texts for messages to the upgrader.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sample_agent {

// Removes from `text` the part before the next `separator`, and the separator itself. Returns the
// removed part. Without a separator, removes and returns the whole `text`.
inline std::string_view cut_off(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

// Returns the value of `text` if it is a decimal number without other characters; otherwise returns
// nothing.
template <std::unsigned_integral Number>
std::optional<Number> to_number(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

// The limits, in bytes, that agent-protocol(7) sets for strings in messages.
inline constexpr std::size_t status_bytes_max = 256;
inline constexpr std::size_t reason_bytes_max = 1'024;

// Returns `text` as at most `bytes_max` bytes of ASCII. Names of files may contain any bytes, so
// each byte that is not a printable character becomes a question mark. If `text` is longer, the
// result ends in three dots.
inline std::string in_short(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view dots = "...";
  const bool fits = text.size() <= bytes_max;
  std::string shortened(text.substr(0, fits ? bytes_max : bytes_max - dots.size()));
  for (char& c : shortened) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fits ? shortened : shortened.append(dots);
}

}  // namespace sample_agent
