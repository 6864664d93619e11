#include "tools/agent-releases/shell/tree.h"

#include <sys/stat.h>

#include <map>
#include <string_view>

#include "base/sha256.h"
#include "tools/agent-releases/shell/modes.h"

namespace agent_releases {
namespace {

using Entries = std::map<std::string, Listed, std::less<>>;

Refusal differs(const std::string& path, std::string_view how) {
  return Refusal{path + " " + std::string(how), Trouble::damaged};
}

Outcome compare_entry(const Directory& directory, const std::string& name, const std::string& path,
                      const Listed& listed) {
  const auto found = directory.status(name);
  if (!found) return found.refusal();
  const auto& status = found.value();
  if (!status) return differs(path, "is missing");
  const mode_t mode = status->st_mode & permission_bits;
  switch (listed.kind) {
    case Listed::Kind::directory:
      if (!S_ISDIR(status->st_mode)) return differs(path, "was a directory");
      if (mode != directory_mode) return differs(path, "has another mode than 0755");
      break;
    case Listed::Kind::file:
      if (!S_ISREG(status->st_mode)) return differs(path, "was a file");
      if (mode != listed.mode) return differs(path, "has another mode than it had");
      break;
    case Listed::Kind::link: {
      Hash hash;
      hash.add(directory.link_target(name).value_or(""));
      if (!S_ISLNK(status->st_mode)) return differs(path, "was a link");
      if (hash.digits() != listed.sha256) return differs(path, "leads elsewhere than it did");
      break;
    }
  }
  return std::monostate{};
}

// Compares the directory with `entries`. Removes each entry that exists from `entries`. Afterwards
// `entries` has only the missing ones.
Outcome compare_below(const Directory& directory, const std::string& before, Entries& entries) {
  const auto names = directory.names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    const std::string path = before + name;
    const auto found = entries.find(path);
    if (found == entries.end()) return differs(path, "was not there");
    const Listed listed = found->second;
    entries.erase(found);
    const Outcome same = compare_entry(directory, name, path, listed);
    if (!same) return same;
    if (listed.kind != Listed::Kind::directory) continue;
    const auto below = directory.subdirectory(name);
    if (!below) return below.refusal();
    const Outcome compared = compare_below(below.value(), path + "/", entries);
    if (!compared) return compared;
  }
  return std::monostate{};
}

}  // namespace

Outcome compare_tree(const Directory& directory, const std::vector<Listed>& list) {
  Entries entries;
  for (const Listed& listed : list)
    entries.emplace(listed.path, listed);
  if (const Outcome same = compare_below(directory, "", entries); !same) return same;
  if (entries.empty()) return std::monostate{};
  return differs(entries.begin()->first, "is missing");
}

std::int64_t bytes_on_disk(const Directory& directory) {
  std::int64_t bytes = 0;
  const auto names = directory.names();
  if (!names) return bytes;
  for (const std::string& name : names.value()) {
    const auto found = directory.status(name);
    if (!found || !found.value()) continue;
    const struct stat& status = *found.value();
    bytes += status.st_blocks * disk_block_bytes;
    if (!S_ISDIR(status.st_mode)) continue;
    const auto below = directory.subdirectory(name);
    if (below) bytes += bytes_on_disk(below.value());
  }
  return bytes;
}

}  // namespace agent_releases
