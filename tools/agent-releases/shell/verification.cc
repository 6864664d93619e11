#include "tools/agent-releases/shell/verification.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {
namespace {

constexpr std::size_t step_bytes = 1'048'576;
constexpr std::size_t piece_bytes = 65'536;
constexpr std::size_t list_bytes_max = 33'554'432;

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

// Compares the directory with `entries`. Removes from `entries` each entry that exists on disk, so
// that only the entries that are missing on disk are left.
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

Result<Verification> Verification::begin(const Store& store, const Release& release) {
  const auto manifest = store.trusted_manifest(release.version);
  if (!manifest) return manifest.refusal();
  Result<Directory> directory =
      Directory::open(release.is_directory ? release.path : store.directory().path());
  if (!directory) return directory.refusal();
  Verification verification(std::move(directory.value()));
  if (manifest.value()) verification.sha256_ = manifest.value()->sha256;
  if (manifest.value() && (manifest.value()->kind == Kind::tar) != release.is_directory) {
    return Refusal{release.path + " is not of the kind that its manifest says", Trouble::damaged};
  }
  const Outcome begun = release.is_directory ? verification.begin_directory(store, release)
                                             : verification.begin_file(store, release);
  if (!begun) return begun.refusal();
  return verification;
}

Outcome Verification::begin_file(const Store& store, const Release& release) {
  const std::string name = store.name_of(release.version);
  const auto found = directory_.status(name);
  if (!found) return found.refusal();
  const auto& status = found.value();
  if (!status) return Refusal{release.path + " is missing", Trouble::absent};
  if (!S_ISREG(status->st_mode)) return Refusal{release.path + " is no file", Trouble::damaged};
  if (!sha256_.empty() && (status->st_mode & permission_bits) != release_mode) {
    return Refusal{release.path + " has another mode than 0555", Trouble::damaged};
  }
  waiting_.push_back({.mode = release_mode, .sha256 = sha256_, .path = name});
  return std::monostate{};
}

Outcome Verification::begin_directory(const Store& store, const Release& release) {
  const std::string name = store.name_of(release.version) + std::string(files_ending);
  const auto text = store.directory().read(name, list_bytes_max);
  if (!text) return text.refusal();
  if (!text.value()) {
    return Refusal{store.directory().path_of(name) + " is missing", Trouble::damaged};
  }
  auto list = parse_list(*text.value());
  if (!list)
    return Refusal{store.directory().path_of(name) + ": " + list.reason(), Trouble::damaged};
  if (const Outcome same = compare_tree(directory_, list.value()); !same) {
    return Refusal{release.path + ": " + same.reason(), same.refusal().trouble};
  }
  for (Listed& listed : list.value()) {
    if (listed.kind == Listed::Kind::file) waiting_.push_back(std::move(listed));
  }
  return std::monostate{};
}

// Opens the next file to be hashed. Opens the components of the file's path one after the other, so
// that no symbolic link is followed.
Outcome Verification::open_next() {
  std::string_view rest = waiting_.front().path;
  Result<Directory> parent = directory_.subdirectory(".");
  for (std::size_t slash = 0; parent && (slash = rest.find('/')) != std::string_view::npos;) {
    Result<Directory> next = parent.value().subdirectory(std::string(rest.substr(0, slash)));
    parent = std::move(next);
    rest.remove_prefix(slash + 1);
  }
  if (!parent) return parent.refusal();
  Result<upgrader::OwnedFd> file = parent.value().open_file(std::string(rest), O_RDONLY);
  if (!file) return file.refusal();
  file_ = std::move(file.value());
  hash_ = Hash();
  return std::monostate{};
}

Outcome Verification::close_present() {
  const Listed& listed = waiting_.front();
  const std::string digits = hash_.digits();
  file_ = upgrader::OwnedFd();
  if (listed.sha256.empty()) {
    sha256_ = digits;
  } else if (listed.sha256 != digits) {
    return Refusal{directory_.path_of(listed.path) +
                       " has been changed: its bytes are not those "
                       "that were added",
                   Trouble::damaged};
  }
  waiting_.pop_front();
  return std::monostate{};
}

Result<bool> Verification::step() {
  if (waiting_.empty()) return true;
  if (!file_) {
    if (const Outcome opened = open_next(); !opened) return opened.refusal();
  }
  std::array<char, piece_bytes> bytes;
  for (std::size_t total = 0; total < step_bytes;) {
    const ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read", directory_, waiting_.front().path);
    if (count == 0) {
      if (const Outcome closed = close_present(); !closed) return closed.refusal();
      break;
    }
    hash_.add({bytes.data(), static_cast<std::size_t>(count)});
    total += static_cast<std::size_t>(count);
  }
  return waiting_.empty();
}

Result<std::string> verify_whole(const Store& store, const Release& release) {
  Result<Verification> verification = Verification::begin(store, release);
  if (!verification) return verification.refusal();
  while (true) {
    const Result<bool> done = verification.value().step();
    if (!done) return done.refusal();
    if (done.value()) return verification.value().sha256();
  }
}

Result<std::string> hash_release(const Store& store, const Release& release) {
  const std::string name = store.name_of(release.version);
  const Result<upgrader::OwnedFd> file = store.directory().open_file(name, O_RDONLY);
  if (!file) return file.refusal();
  return hash_file(file.value().get(), release.path);
}

Result<std::string> hash_file(int file, const std::string& path) {
  Hash hash;
  const Outcome hashed = read_pieces(file, path, [&hash](std::string_view piece) -> Outcome {
    hash.add(piece);
    return std::monostate{};
  });
  return hashed ? Result<std::string>(hash.digits()) : hashed.refusal();
}

}  // namespace agent_releases
