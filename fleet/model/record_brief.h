// Texts and lists of names that come from others, as short as a record may hold them. So nothing
// that a node, a hook or a person writes makes another record longer than the store takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// Of a text for people: an error, a reason, the last line of a hook. Two lines of a wide terminal
// tell what is wrong; the whole is in the log of whoever wrote it.
inline constexpr std::size_t text_bytes_max = 1'024;
// Of what is a name for people: a version as it was reported, who ordered something, a time.
inline constexpr std::size_t label_bytes_max = 255;
// Of a list of nodes, so many are named; of the others the number is told.
inline constexpr std::size_t names_kept = 20;

// The text, cut to so many bytes as JSON spells it, with ... at the end where something is missing.
// A byte that is no UTF-8 becomes `?`.
[[nodiscard]] std::string brief(std::string_view text, std::size_t bytes_max = text_bytes_max);

// `n1, n2, n3`, or the first of them: `n1, n2, and 2980 more`.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

// Keeps the first of these names, and the number of all of them in `count`.
void keep_some(std::vector<std::string>& names, std::int64_t& count);

}  // namespace fleet
