// This file matches globs and regular expressions, and selects nodes by a target (target.h). No
// other file uses the library PCRE.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

// Returns whether the glob matches the whole text: `*` is any text, `?` is one character, `[abc]`
// and `[a-z]` are one of these characters, and `[!a-z]` is one character that is not listed. The
// time is at most proportional to the length of the pattern times the length of the text.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

// Returns whether the glob is valid: each bracket that is opened must be closed.
[[nodiscard]] bool is_glob(std::string_view pattern);

struct RegexError {
  std::size_t at = 0;  // the position in the expression, counted from 0
  std::string what = {};
};

// Returns why the text is not a valid regular expression, or no value if it is valid.
[[nodiscard]] std::optional<RegexError> why_no_regex(std::string_view pattern);

}  // namespace fleet
