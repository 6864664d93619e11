#include "tools/agent-releases/shell/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/temporary_path.h"

namespace agent_releases {
namespace {

constexpr std::size_t read_bytes = 65'536;
constexpr std::size_t link_bytes_max = 4'096;

Refusal refusal_from(int error, std::string_view deed, const std::string& path) {
  std::string reason = "cannot " + std::string(deed) + " " + path + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) {
    reason += "; make room and run the same command again: nothing has been changed";
  }
  return Refusal{std::move(reason), error == ENOENT ? Trouble::absent : Trouble::system, error};
}

}  // namespace

Refusal refusal_from_errno(std::string_view deed, const std::string& path) {
  return refusal_from(errno, deed, path);
}

Refusal refusal_from_errno(std::string_view deed, const Directory& directory,
                           const std::string& name) {
  const int error = errno;
  return refusal_from(error, deed, directory.path_of(name));
}

Outcome read_pieces(int descriptor, const std::string& path,
                    const std::function<Outcome(std::string_view)>& take) {
  std::array<char, read_bytes> bytes;
  while (true) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read", path);
    if (count == 0) return std::monostate{};
    const Outcome taken = take({bytes.data(), static_cast<std::size_t>(count)});
    if (!taken) return taken;
  }
}

Result<std::string> read_all(int descriptor, const std::string& path, std::size_t bytes_max) {
  std::string text;
  const Outcome all = read_pieces(descriptor, path, [&](std::string_view piece) -> Outcome {
    text += piece;
    if (text.size() <= bytes_max) return std::monostate{};
    return Refusal{path + " has more than " + std::to_string(bytes_max) + " bytes"};
  });
  return all ? Result<std::string>(std::move(text)) : all.refusal();
}

Outcome write_all(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return std::monostate{};
}

Outcome sync(int descriptor, const std::string& path) {
  if (::fsync(descriptor) != 0) return refusal_from_errno("sync", path);
  return std::monostate{};
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

Result<bool> make_reachable(const std::string& path) {
  if (::mkdir(path.c_str(), directory_mode) != 0) {
    if (errno == EEXIST) return false;
    return refusal_from_errno("make", path);
  }
  // Set the mode again, because the umask may have removed some of its bits. O_NOFOLLOW is needed
  // because a user who may write to the parent directory may have replaced the new directory by a
  // link.
  const upgrader::OwnedFd made(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!made || ::fstat(made.get(), &status) != 0 ||
      ::fchmod(made.get(), (status.st_mode & permission_bits) | directory_mode) != 0) {
    return refusal_from_errno("make", path);
  }
  return true;
}

Directory::Directory(upgrader::OwnedFd descriptor, std::string path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

Result<Directory> Directory::open(const std::string& path) {
  upgrader::OwnedFd descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return refusal_from_errno("open", path);
  return Directory(std::move(descriptor), path);
}

std::string Directory::path_of(std::string_view name) const {
  return path_ + (path_.ends_with('/') ? "" : "/") + std::string(name);
}

Result<std::vector<std::string>> Directory::names() const {
  upgrader::OwnedFd copy(::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy) return refusal_from_errno("read", path_);
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::fdopendir(copy.get()), close);
  if (!stream) return refusal_from_errno("read", path_);
  static_cast<void>(copy.release());  // the stream owns this descriptor now
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return refusal_from_errno("read", path_);
  return names;
}

Result<std::optional<struct stat>> Directory::status(const std::string& name) const {
  struct stat status {};
  if (::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::optional(status);
  }
  if (errno == ENOENT) return std::optional<struct stat>{};
  return refusal_from_errno("look at", *this, name);
}

std::optional<std::string> Directory::link_target(const std::string& name) const {
  std::array<char, link_bytes_max> target;
  const ssize_t size = ::readlinkat(descriptor(), name.c_str(), target.data(), target.size());
  if (size < 0 || static_cast<std::size_t>(size) == target.size()) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<upgrader::OwnedFd> Directory::open_file(const std::string& name, int flags,
                                               mode_t mode) const {
  // With O_NONBLOCK, opening a FIFO does not wait for ever for its other end. O_NONBLOCK has no
  // effect on regular files.
  const int safe = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  upgrader::OwnedFd file(::openat(descriptor(), name.c_str(), safe, mode));
  if (!file) return refusal_from_errno("open", *this, name);
  return file;
}

Result<Directory> Directory::subdirectory(const std::string& name) const {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  upgrader::OwnedFd found(::openat(descriptor(), name.c_str(), flags));
  if (!found) return refusal_from_errno("open", *this, name);
  return Directory(std::move(found), path_of(name));
}

Outcome Directory::make_directory(const std::string& name, mode_t mode) const {
  if (::mkdirat(descriptor(), name.c_str(), mode) != 0) {
    if (errno == EEXIST) return std::monostate{};
    return refusal_from_errno("make", *this, name);
  }
  // Set the mode again, because the umask may have removed bits of `mode`.
  if (::fchmodat(descriptor(), name.c_str(), mode, 0) == 0) return std::monostate{};
  return refusal_from_errno("make", *this, name);
}

Result<std::optional<std::string>> Directory::read(const std::string& name,
                                                   std::size_t bytes_max) const {
  const Result<upgrader::OwnedFd> file = open_file(name, O_RDONLY);
  if (!file && file.refusal().error_number == ENOENT) return std::optional<std::string>{};
  if (!file) return file.refusal();
  struct stat status {};
  if (::fstat(file.value().get(), &status) != 0) return refusal_from_errno("read", *this, name);
  if (!S_ISREG(status.st_mode)) return Refusal{path_of(name) + " is not a regular file"};
  Result<std::string> text = read_all(file.value().get(), path_of(name), bytes_max);
  if (!text) return text.refusal();
  return std::optional(std::move(text.value()));
}

Outcome Directory::write(const std::string& name, std::string_view text, mode_t mode) const {
  if (const Outcome gone = remove(name); !gone) return gone;
  const Result<upgrader::OwnedFd> file = open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file) return file.refusal();
  const int descriptor = file.value().get();
  if (const Outcome written = write_all(descriptor, path_of(name), text); !written) return written;
  if (::fchmod(descriptor, mode) != 0) return refusal_from_errno("write", *this, name);
  return agent_releases::sync(descriptor, path_of(name));
}

Outcome Directory::rename(const std::string& name, const Directory& into,
                          const std::string& new_name, Existing existing) const {
  const auto replace = [&] {
    return ::renameat(descriptor(), name.c_str(), into.descriptor(), new_name.c_str());
  };
  // Use syscall(), because musl has no function renameat2().
  long failed = existing == Existing::replace
                    ? replace()
                    : ::syscall(SYS_renameat2, descriptor(), name.c_str(), into.descriptor(),
                                new_name.c_str(), RENAME_NOREPLACE);
  // Some file systems do not support RENAME_NOREPLACE (EINVAL), Linux before 3.15 has no renameat2
  // (ENOSYS), and an old container's filter may forbid it (EPERM). In these cases, check first that
  // the new name does not exist. No other process can make the new name between the check and the
  // rename, because this process holds the writer's lock.
  const bool is_unknown = errno == EINVAL || errno == ENOSYS || errno == EPERM;
  if (failed != 0 && existing == Existing::keep && is_unknown) {
    const auto there = into.status(new_name);
    if (!there) return there.refusal();
    errno = EEXIST;
    if (!there.value()) failed = replace();
  }
  if (failed != 0) return refusal_from_errno("rename", *this, name);
  return std::monostate{};
}

Outcome Directory::link(const std::string& target, const std::string& name) const {
  if (::symlinkat(target.c_str(), descriptor(), name.c_str()) == 0) return std::monostate{};
  return refusal_from_errno("make", *this, name);
}

Outcome Directory::remove(const std::string& name) const {
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return std::monostate{};
  if (errno != EISDIR && errno != EPERM) return refusal_from_errno("remove", *this, name);
  const auto found = status(name);
  if (!found) return found.refusal();
  if (!found.value()) return std::monostate{};
  if (!S_ISDIR(found.value()->st_mode)) {
    return Refusal{"cannot remove " + path_of(name), Trouble::system};
  }
  {
    const Result<Directory> below = subdirectory(name);
    if (!below) return below.refusal();
    const Result<std::vector<std::string>> names = below.value().names();
    if (!names) return names.refusal();
    for (const std::string& inside : names.value()) {
      if (const Outcome gone = below.value().remove(inside); !gone) return gone;
    }
  }
  if (::unlinkat(descriptor(), name.c_str(), AT_REMOVEDIR) == 0) return std::monostate{};
  return refusal_from_errno("remove", *this, name);
}

Outcome Directory::sync() const {
  return agent_releases::sync(descriptor(), path_);
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

Result<Scratch> Scratch::make() {
  std::string path = upgrader::temporary_path("agent-releases");
  if (::mkdtemp(path.data()) == nullptr) return refusal_from_errno("make", path);
  const std::size_t slash = path.find_last_of('/');
  auto parent = Directory::open(path.substr(0, slash + 1));
  auto directory = Directory::open(path);
  if (!parent) return parent.refusal();
  if (!directory) return directory.refusal();
  return Scratch(std::move(parent.value()), std::move(directory.value()), path.substr(slash + 1));
}

Scratch::~Scratch() {
  if (parent_.descriptor() >= 0) static_cast<void>(parent_.remove(name_));
}

Scratch::Scratch(Directory parent, Directory directory, std::string name)
    : parent_(std::move(parent)), directory_(std::move(directory)), name_(std::move(name)) {}

}  // namespace agent_releases
