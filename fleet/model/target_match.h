// Matches regular expressions, and selects nodes by a target. No other file uses PCRE.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

struct RegexError {
  std::size_t at = 0;  // the position in the expression, counted from 0
  std::string what = {};
};

// Returns why the text is not a regular expression, or no value if it is one.
[[nodiscard]] std::optional<RegexError> why_no_regex(std::string_view pattern);

}  // namespace fleet
