// Cuts a line of our own small text files into its words, and words into numbers; and makes of any
// text one that an upgrader takes.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sample_agent {

// The part of `text` before the next `separator`, which is cut off `text` together with it; all of
// it if there is none.
inline std::string_view cut_off(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

// The number that `text` is, in decimal, with nothing before or after it.
template <std::unsigned_integral Number>
std::optional<Number> to_number(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

// Limits of the texts for people, as agent-protocol(7) has them.
inline constexpr std::size_t status_bytes_max = 256;
inline constexpr std::size_t reason_bytes_max = 1'024;

// `text` for people in at most `bytes_max` bytes of ASCII: a question mark stands for a byte that
// is no printable character, and three dots for an end that has no room. Names of files may hold
// any bytes.
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
