#include "base/directory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/form.h"
#include "base/repeated.h"

namespace upgrader {
namespace {

// prepared_name() makes a name that contains at most this many bytes of a file's name, since the
// new name must not be longer than NAME_MAX (255).
constexpr std::size_t name_bytes_kept = 200;

}  // namespace

std::string read_start(int fd, std::size_t bytes_max) {
  std::string text(bytes_max, '\0');
  const ssize_t count = repeated([&] {
    errno = 0;
    return ::pread(fd, text.data(), text.size(), 0);
  });
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = repeated([&] { return ::write(fd, text.data(), text.size()); });
    if (count < 0) return errno;
    if (count == 0) return EIO;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

std::string absolute(const std::string& path) {
  char here[PATH_MAX];
  if (path[0] == '/' || ::getcwd(here, sizeof here) == nullptr) return path;
  return "{}/{}"_with(here, path);
}

std::optional<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved ? std::optional<std::string>(resolved.get()) : std::nullopt;
}

int Directory::open(const std::string& path, bool follows_link, int access) {
  const int flags = access | O_DIRECTORY | O_CLOEXEC | (follows_link ? 0 : O_NOFOLLOW);
  descriptor_.reset(::open(path.c_str(), flags));
  if (!descriptor_) return errno;
  path_ = absolute(path);
  return 0;
}

unsigned long Directory::file_system() const {
  struct statfs status {};
  if (::fstatfs(descriptor_.get(), &status) != 0) return 0;
  return static_cast<unsigned long>(status.f_type) & 0xffffffffUL;
}

bool Directory::is_fat() const {
  const unsigned long type = file_system();
  return type == 0x4d44 || type == 0x2011bab0;  // the magic numbers of FAT and exFAT
}

int Directory::moved() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(descriptor(), &ours) != 0) return errno;
  if (::stat(path_.c_str(), &named) != 0) return errno;
  return is_same_file(ours, named) ? 0 : ESTALE;
}

std::string Directory::way_to(const std::string& path) const {
  std::string from = resolve(path_).value_or("");
  if (from.empty()) return path;
  if (from != "/") from += '/';
  const auto parting = std::mismatch(from.begin(), from.end(), path.begin(), path.end()).first;
  // Both paths begin with a slash. Their common part ends at the last slash before they differ.
  const std::string shared(from.begin(), parting);
  const std::size_t common = shared.rfind('/') + 1;
  std::string relative;
  for (const char character : from.substr(common)) {
    if (character == '/') relative += "../";
  }
  return relative + path.substr(common);
}

std::string Directory::read_file(const std::string& name, std::size_t bytes_max) const {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  return read_start(OwnedFd(::openat(descriptor(), name.c_str(), flags)).get(), bytes_max);
}

std::string Directory::read_link(const std::string& name) const {
  char text[PATH_MAX];
  const ssize_t count = ::readlinkat(descriptor(), name.c_str(), text, sizeof text);
  return {text, count > 0 ? static_cast<std::size_t>(count) : 0};
}

int Directory::replace_file(const std::string& name, std::string_view text, bool durably,
                            mode_t mode) const {
  const std::string fresh = prepared_name(name);
  remove(fresh);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const OwnedFd file(::openat(descriptor(), fresh.c_str(), flags, mode));
  if (!file) return errno;
  int error = write_all(file.get(), text);
  if (error == 0 && durably && ::fsync(file.get()) != 0) error = errno;
  if (error != 0) {
    remove(fresh);
    return error;
  }
  error = put(name);
  return error != 0 || !durably ? error : sync();
}

int Directory::overwrite(const std::string& name, std::size_t offset, std::string_view text,
                         bool durably) const {
  constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const OwnedFd file(::openat(descriptor(), name.c_str(), flags));
  if (!file || ::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return errno;
  if (const int error = write_all(file.get(), text)) return error;
  return durably && ::fdatasync(file.get()) != 0 ? errno : 0;
}

int Directory::sync() const {
  return ::fsync(descriptor()) == 0 ? 0 : errno;
}

int Directory::replace_link(const std::string& name, const std::string& target) const {
  const int error = prepare_link(name, target);
  return error != 0 ? error : put(name);
}

int Directory::prepare_link(const std::string& name, const std::string& target) const {
  const std::string fresh = prepared_name(name);
  const auto make = [&] {
    return ::symlinkat(target.c_str(), descriptor(), fresh.c_str()) == 0 ? 0 : errno;
  };
  const int error = make();
  if (error != EEXIST || read_link(fresh).empty()) return error;
  if (::unlinkat(descriptor(), fresh.c_str(), 0) != 0) return errno;
  return make();
}

int Directory::put(const std::string& name) const {
  const std::string fresh = prepared_name(name);
  if (::renameat(descriptor(), fresh.c_str(), descriptor(), name.c_str()) == 0) return 0;
  const int error = errno;
  remove(fresh);
  return error;
}

std::string Directory::prepared_name(const std::string& name) {
  return ".{}.upgrader"_with(std::string_view(name).substr(0, name_bytes_kept));
}

void Directory::remove(const std::string& name) const {
  ::unlinkat(descriptor(), name.c_str(), 0);
}

int Entry::open(const std::string& path, int access) {
  const std::size_t slash = path.rfind('/');
  name = path.substr(slash + 1);  // without a slash, the whole path is the name: npos + 1 is 0
  if (name.empty()) return EINVAL;
  if (slash == std::string::npos) return directory.open(".", true, access);
  return directory.open(path.substr(0, std::max(slash, std::size_t{1})), true, access);
}

}  // namespace upgrader
