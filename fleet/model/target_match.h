// Regular expressions of targets, and which nodes a target means. The only place that knows PCRE.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

struct RegexError {
  std::size_t at = 0;  // byte of the expression, from 0
  std::string what = {};
};

// No value if it is a regular expression.
[[nodiscard]] std::optional<RegexError> why_no_regex(std::string_view pattern);

}  // namespace fleet
