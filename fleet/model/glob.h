// Matches globs: `*` is any text, `?` one character, `[abc]` and `[a-z]` one of these characters,
// and `[!a-z]` any other character. Takes time proportional to pattern times text, whatever the
// pattern.
#pragma once

#include <string_view>

namespace fleet {

[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

// Returns false if the pattern has a bracket that is not closed.
[[nodiscard]] bool is_glob(std::string_view pattern);

}  // namespace fleet
