#include "tools/agent-releases/shell/pack_look.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "agent-releases/processor.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {
namespace {

using Tree = std::vector<Found>;

Outcome look_below(const Directory& directory, const std::string& before, std::size_t depth,
                   Tree& tree);

Outcome look_at_entry(const Directory& directory, const std::string& name, const std::string& path,
                      std::size_t depth, Tree& tree) {
  const auto status = directory.status(name);
  if (!status) return status.refusal();
  if (!status.value()) return Refusal{directory.path_of(name) + " vanished while it was packed"};
  if (S_ISREG(status.value()->st_mode)) {
    const auto file = directory.open_file(name, O_RDONLY);
    if (!file) return file.refusal();
    auto found = look_at_file(file.value().get(), path);
    if (!found) return found.refusal();
    tree.push_back(std::move(found.value()));
    return std::monostate{};
  }
  Found found{.path = path, .kind = Found::Kind::other};
  if (S_ISLNK(status.value()->st_mode)) {
    found.kind = Found::Kind::link;
    found.target = directory.link_target(name).value_or("");
  }
  if (!S_ISDIR(status.value()->st_mode)) {
    tree.push_back(std::move(found));
    return std::monostate{};
  }
  found.kind = Found::Kind::directory;
  tree.push_back(std::move(found));
  const auto below = directory.subdirectory(name);
  if (!below) return below.refusal();
  return look_below(below.value(), path + "/", depth + 1, tree);
}

Outcome look_below(const Directory& directory, const std::string& before, std::size_t depth,
                   Tree& tree) {
  if (depth >= member_depth_max) return Refusal{before + " is too deep for a release"};
  const auto names = directory.names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    if (tree.size() > members_max) return Refusal{"the directory has more than 100,000 entries"};
    const Outcome looked = look_at_entry(directory, name, before + name, depth, tree);
    if (!looked) return looked;
  }
  return std::monostate{};
}

}  // namespace

std::int64_t written_ns(const struct stat& status) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec;
}

Result<std::vector<Found>> look_at_tree(const Directory& tree) {
  Tree found;
  const Outcome looked = look_below(tree, "", 0, found);
  if (!looked) return looked.refusal();
  return found;
}

Result<Found> look_at_file(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return refusal_from_errno("look at", path);
  Found found{.path = path, .mode = status.st_mode & permission_bits, .bytes = status.st_size};
  found.written_ns = written_ns(status);
  if (!S_ISREG(status.st_mode)) {
    found.kind = Found::Kind::other;
    return found;
  }
  std::array<char, elf_header_bytes> beginning;
  const ssize_t count = ::pread(file, beginning.data(), beginning.size(), 0);
  if (count < 0) return refusal_from_errno("read", path);
  found.beginning.assign(beginning.data(), static_cast<std::size_t>(count));
  return found;
}

}  // namespace agent_releases
