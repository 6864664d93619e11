// Globs: * any text, ? one character, [abc], [a-z], [!a-z] one of these or none of them. In time
// proportional to pattern times text, whatever the pattern.
#pragma once

#include <string_view>

namespace fleet {

[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

// False: a bracket is open at its end.
[[nodiscard]] bool is_glob(std::string_view pattern);

}  // namespace fleet
