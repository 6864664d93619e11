#include "tools/agent-releases/core/names.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/utf8.h"

namespace agent_releases {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '+';
}

}  // namespace

Outcome check_name(std::string_view name) {
  if (name.empty() || name.size() > name_bytes_max || !std::ranges::all_of(name, is_plain) ||
      name[0] == '.' || name[0] == '-') {
    return Refusal{
        "a name has 1 to 64 letters, digits, dots, hyphens, plus signs and underlines, and "
        "begins with none of . and -"};
  }
  return std::monostate{};
}

Outcome check_version(const Version& version) {
  const std::string text = version.text();
  for (const std::string_view ending : {".json", ".minisig", ".files"}) {
    if (text.ends_with(ending)) {
      return Refusal{"version " + text +
                     " ends as the name of another file does: " + std::string(ending)};
    }
  }
  return std::monostate{};
}

Outcome check_entry(std::string_view entry) {
  if (entry.empty() || entry.size() > entry_bytes_max) {
    return Refusal{"`entry` is a path of 1 to 1,024 bytes"};
  }
  if (entry.find('\0') != std::string_view::npos) return Refusal{"`entry` has a U+0000"};
  std::string_view rest = entry;
  for (bool more = true; more;) {
    const std::size_t slash = rest.find('/');
    more = slash != std::string_view::npos;
    const std::string_view component = rest.substr(0, slash);
    if (component.empty() || component == "." || component == ".." ||
        component.size() > component_bytes_max) {
      return Refusal{"`entry` must be a path below the release's directory, without . and .."};
    }
    if (more) rest.remove_prefix(slash + 1);
  }
  return std::monostate{};
}

Outcome check_executable(std::string_view path) {
  if (!agent_protocol::is_utf8(path)) return Refusal{"its path is not UTF-8"};
  if (path.size() > executable_bytes_max) return Refusal{"its path has more than 4,095 bytes"};
  return std::monostate{};
}

std::string claim_name(std::string_view name, const Version& version) {
  return "lock." + release_name(name, version);
}

std::string release_name(std::string_view name, const Version& version) {
  return std::string(name) + "-v" + version.text();
}

std::optional<Known> recognise(std::string_view entry, std::string_view name) {
  if (!entry.starts_with(name)) return std::nullopt;
  entry.remove_prefix(name.size());
  if (!entry.starts_with("-v")) return std::nullopt;
  entry.remove_prefix(2);
  constexpr std::array<std::pair<std::string_view, Known::Kind>, 3> endings{
      {{signature_ending, Known::Kind::signature},
       {manifest_ending, Known::Kind::manifest},
       {files_ending, Known::Kind::files}}};
  Known::Kind kind = Known::Kind::release;
  for (const auto& [ending, its_kind] : endings) {
    if (!entry.ends_with(ending)) continue;
    entry.remove_suffix(ending.size());
    kind = its_kind;
    break;
  }
  const std::optional<Version> version = Version::parse(entry);
  if (!version || !version->build.empty() || !check_version(*version)) return std::nullopt;
  return Known{.kind = kind, .version = *version};
}

std::vector<std::string> orphans(const std::vector<std::string>& entries, std::string_view name) {
  std::vector<std::string> found;
  std::set<std::string> releases;
  for (const std::string& entry : entries) {
    const auto known = recognise(entry, name);
    if (known && known->kind == Known::Kind::release) releases.insert(known->version.text());
  }
  for (const std::string& entry : entries) {
    const auto known = recognise(entry, name);
    if (!known || known->kind == Known::Kind::release) continue;
    if (!releases.contains(known->version.text())) found.push_back(entry);
  }
  return found;
}

std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                  std::string_view wanted) {
  std::vector<std::string> found;
  for (const std::string& entry : entries) {
    const bool partial = entry.ends_with(partial_ending);
    if (partial && (wanted.empty() || entry == wanted)) continue;
    found.push_back(entry);
  }
  return found;
}

}  // namespace agent_releases
