// Matches globs: `*` is any text, `?` is one character, `[abc]` and `[a-z]` are one of these
// characters, and `[!a-z]` is one other character. For every pattern, the time is at most
// proportional to the length of the pattern times the length of the text.
#pragma once

#include <string_view>

namespace fleet {

[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

// Returns whether the pattern is valid: each bracket that is opened must be closed.
[[nodiscard]] bool is_glob(std::string_view pattern);

}  // namespace fleet
