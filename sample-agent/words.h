// Cuts a line of our own small text files into its words, and words into numbers.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
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

}  // namespace sample_agent
