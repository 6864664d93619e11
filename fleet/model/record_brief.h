// Shortens texts and lists of names that come from others to the lengths that a record may hold. So
// no text of a node, a hook or a person makes a record longer than the store accepts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// The limit for a text for people: an error, a reason, the last line of a hook. Two lines of a wide
// terminal tell what is wrong; the log of the program that wrote the text has all of it.
inline constexpr std::size_t text_bytes_max = 1'024;
// The limit for a name that is only shown to people: a version as it was reported, the author of an
// order, a time.
inline constexpr std::size_t label_bytes_max = 255;
// The number of nodes of a list that are named. Of the others, only their number is given.
inline constexpr std::size_t names_kept = 20;

// Returns the text, cut to `bytes_max` bytes as JSON spells it, with "..." at the end if something
// was cut off. A byte that is not valid UTF-8 becomes `?`.
[[nodiscard]] std::string brief(std::string_view text, std::size_t bytes_max = text_bytes_max);

// Returns `n1, n2, n3`, or for a long list the first names: `n1, n2, and 2980 more`.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

// Keeps the first of these names, and sets `count` to the number of all.
void keep_some(std::vector<std::string>& names, std::int64_t& count);

}  // namespace fleet
