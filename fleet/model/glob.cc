#include "fleet/model/glob.h"

#include <cstddef>

namespace fleet {
namespace {

// Returns the index after the bracket expression, such as `[a-z]`, that begins at `at`. Returns
// npos if its closing bracket is missing. A `]` directly after the opening bracket is one of the
// characters, and does not close it.
std::size_t bracket_end(std::string_view pattern, std::size_t at) {
  std::size_t first = at + 1;
  if (first < pattern.size() && pattern[first] == '!') ++first;
  const std::size_t end = pattern.find(']', first + 1);
  return end == std::string_view::npos ? end : end + 1;
}

// Returns whether the set contains `c`. `set` is the text between two brackets, such as `a-z` or
// `!a-z`.
bool is_in(std::string_view set, char c) {
  const bool negated = set.starts_with('!');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

// Matches the character `c` with the pattern's element at the index `at`, which is not a star.
// Returns the index of the next element, or npos if `c` does not match.
std::size_t take(std::string_view pattern, std::size_t at, char c) {
  if (at >= pattern.size()) return std::string_view::npos;
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] != '[') return pattern[at] == c ? at + 1 : std::string_view::npos;
  const std::size_t end = bracket_end(pattern, at);
  if (end == std::string_view::npos) return end;
  return is_in(pattern.substr(at + 1, end - at - 2), c) ? end : std::string_view::npos;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t behind_star = std::string_view::npos;
  std::size_t star_took = 0;  // where in the text the match of the last star ends
  std::size_t i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      star_took = i;
      continue;
    }
    const std::size_t next = take(pattern, at, text[i]);
    if (next != std::string_view::npos) {
      at = next;
      ++i;
      continue;
    }
    if (behind_star == std::string_view::npos) return false;
    at = behind_star;
    i = ++star_took;
  }
  while (at < pattern.size() && pattern[at] == '*')
    ++at;
  return at == pattern.size();
}

bool is_glob(std::string_view pattern) {
  std::size_t at = 0;
  while (at < pattern.size()) {
    at = pattern[at] == '[' ? bracket_end(pattern, at) : at + 1;
    if (at == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace fleet
