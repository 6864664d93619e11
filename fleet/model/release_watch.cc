#include "fleet/model/release_watch.h"

#include <algorithm>

#include "fleet/model/ids.h"

namespace fleet {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// `~` before the end, the end before letters, letters before all else.
int weight(std::string_view text) {
  if (text.empty() || is_digit(text[0])) return 0;
  if (text[0] == '~') return -1;
  return is_letter(text[0]) ? text[0] : text[0] + 256;
}

std::string_view cut_digits(std::string_view& text) {
  while (text.starts_with('0'))
    text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length]))
    ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::strong_ordering compare_parts(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    while ((!a.empty() && !is_digit(a[0])) || (!b.empty() && !is_digit(b[0]))) {
      if (const auto order = weight(a) <=> weight(b); order != 0) return order;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    const std::string_view left = cut_digits(a);
    const std::string_view right = cut_digits(b);
    if (const auto order = left.size() <=> right.size(); order != 0) return order;
    if (const auto order = left <=> right; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

struct Parts {
  std::string_view version;
  std::string_view suffix;  // behind the first hyphen
};

Parts parts_of(std::string_view text) {
  text = text.substr(0, text.find('+'));
  const std::size_t hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return {text, {}};
  return {text.substr(0, hyphen), text.substr(hyphen + 1)};
}

// A pre-release before the release, the release before its revisions.
int rank(std::string_view suffix) {
  if (suffix.empty()) return 0;
  return is_letter(suffix[0]) ? -1 : 1;
}

}  // namespace

std::optional<std::string> version_of_tag(std::string_view tag) {
  const std::size_t hyphen = tag.find('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return std::nullopt;
  const std::string_view version = tag.substr(hyphen + 1);
  if (!is_version_name(version)) return std::nullopt;
  return std::string(version);
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  if (const auto order = compare_parts(left.version, right.version); order != 0) return order;
  if (const auto order = rank(left.suffix) <=> rank(right.suffix); order != 0) return order;
  return compare_parts(left.suffix, right.suffix);
}

std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found, Channel channel,
                                           const WatchState& state) {
  if (state.under_way || state.halted) return std::nullopt;
  std::optional<std::string> newest;
  for (const FoundRelease& release : found) {
    if (release.prerelease && channel == Channel::production) continue;
    const std::optional<std::string> version = version_of_tag(release.tag);
    if (!version) continue;
    if (!state.current.empty() && compare_versions(*version, state.current) <= 0) continue;
    if (!newest || compare_versions(*version, *newest) > 0) newest = version;
  }
  return newest;
}

}  // namespace fleet
