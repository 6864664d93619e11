#include "tools/agentify/release_name.h"

#include <vector>

namespace agentify {
namespace {

// How many names at the end of the program's path may contain the version: the program's own name,
// and the names of the three directories above it.
constexpr std::size_t named_releases_max = 4;

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool looks_like_version(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  return !name.empty() && is_digit(name.front());
}

std::vector<std::string_view> last_names(std::string_view path) {
  std::vector<std::string_view> names;
  while (names.size() < named_releases_max && !path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < path.size()) names.push_back(path.substr(begin));
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return names;
}

}  // namespace

std::string release_name(std::string_view path) {
  constexpr std::string_view version_mark = "-v";
  const std::vector<std::string_view> names = last_names(path);
  for (const std::string_view name : names) {
    const std::size_t mark = name.rfind(version_mark);
    if (mark == std::string_view::npos || mark == 0) continue;
    const std::string_view version = name.substr(mark + version_mark.size());
    if (!version.empty() && is_digit(version.front())) return std::string(version);
  }
  if (names.size() < 2) return "";
  if (names[0] == "run") return std::string(names[1]);
  const bool in_bin = names[1] == "bin" || names[1] == "sbin";
  const std::size_t at = in_bin ? 2 : 1;
  return at < names.size() && looks_like_version(names[at]) ? std::string(names[at]) : "";
}

}  // namespace agentify
