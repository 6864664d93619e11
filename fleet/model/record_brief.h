// Shortens texts and lists of names to the lengths that a record may have. Otherwise a text from a
// node, a hook or a person could make a record too long for the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// The limit for a text for people: an error, a reason, the last line of a hook's output. The limit
// is about two lines of a wide terminal; the whole text is in the log of the program that wrote it.
inline constexpr std::size_t text_bytes_max = 1'024;
// The limit for a short text that is only shown to people: a reported version, the name of a
// person, a time.
inline constexpr std::size_t label_bytes_max = 255;
// How many nodes a list names at most. For further nodes, the list gives only their number.
inline constexpr std::size_t names_kept = 20;

// Returns `text`, cut so that its JSON form has at most `bytes_max` bytes. A text that was cut ends
// with "...". A byte that is not valid UTF-8 becomes `?`.
[[nodiscard]] std::string brief(std::string_view text, std::size_t bytes_max = text_bytes_max);

// Returns the names as one text: `n1, n2, n3`. If there are more than names_kept names, the text
// has only the first of them: `n1, n2, and 2980 more`.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

// Sets `count` to the number of names, then removes all names but the first names_kept ones.
void keep_some(std::vector<std::string>& names, std::int64_t& count);

}  // namespace fleet
