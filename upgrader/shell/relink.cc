#include "upgrader/shell/relink.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "upgrader/shell/errno_name.h"

namespace upgrader {
namespace {

// So much of the link's name goes into the temporary's, which must not be too long itself.
constexpr std::size_t name_bytes_kept = 200;

// The text of a symbolic link; empty, with errno, where there is none.
std::string read_link(const OwnedFd& directory, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t count = ::readlinkat(directory.get(), name.c_str(), text, sizeof text);
  return {text, count > 0 ? static_cast<std::size_t>(count) : 0};
}

int sync_file_system(int fd, const BeforeSync& before_sync) {
  before_sync();
  return ::syncfs(fd) == 0 ? 0 : errno;
}

int sync_open_file(int fd, const BeforeSync& before_sync) {
  before_sync();
  if (::fsync(fd) == 0) return 0;
  // Some file systems sync as a whole or not at all.
  return errno == EINVAL ? sync_file_system(fd, before_sync) : errno;
}

OwnedFd open_directory(const std::string& path) {
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Adds the directories that lead to the program to `way`, its own first, as far as they are of one
// file system: a release may have been put into a new one, and a link that is kept while that is
// lost would lead nowhere.
int find_way_to(const Program& program, std::vector<std::string>& way) {
  std::string directory = program.path();
  dev_t device{};
  while (directory != "/") {
    const std::size_t slash = directory.rfind('/');
    directory.resize(slash == 0 ? 1 : slash);
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return errno;
    if (way.empty()) device = status.st_dev;
    if (status.st_dev != device) return 0;
    way.push_back(directory);
  }
  return 0;
}

// By the first of these directories that may be opened for reading.
int sync_file_system_of(const std::vector<std::string>& way, const BeforeSync& before_sync) {
  for (const std::string& path : way) {
    const OwnedFd directory = open_directory(path);
    if (directory) return sync_file_system(directory.get(), before_sync);
    if (errno != EACCES) return errno;
  }
  return EACCES;
}

// The executable and the directories that lead to it. What may not be opened for reading is synced
// with all else on its file system.
int sync_release(const Program& program, const BeforeSync& before_sync) {
  std::vector<std::string> way;
  if (const int error = find_way_to(program, way); error != 0) return error;
  if (program.kind() == ExecutableKind::unreadable) return sync_file_system_of(way, before_sync);
  const int file = program.descriptor();
  if (const int error = sync_open_file(file, before_sync); error != 0) return error;
  for (const std::string& path : way) {
    const OwnedFd directory = open_directory(path);
    if (!directory && errno == EACCES) return sync_file_system(file, before_sync);
    if (!directory) return errno;
    if (const int error = sync_open_file(directory.get(), before_sync); error != 0) return error;
  }
  return 0;
}

// The path with its links, but from the root.
std::string as_given(const std::string& path) {
  char here[PATH_MAX];
  if (path[0] == '/' || ::getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

// How `path` is reached from `directory`; both are absolute and resolved.
std::string relative_path(const std::string& directory, const std::string& path) {
  const std::string from = directory == "/" ? "/" : directory + "/";
  const auto parting = std::mismatch(from.begin(), from.end(), path.begin(), path.end()).first;
  // Both begin with a slash, and the last that they share is where the ways part.
  const std::string shared(from.begin(), parting);
  const std::size_t common = shared.rfind('/') + 1;
  std::string relative;
  for (const char character : from.substr(common)) {
    if (character == '/') relative += "../";
  }
  return relative + path.substr(common);
}

}  // namespace

Link::Link(OwnedFd directory, std::string given_directory, std::string directory_path,
           std::string name, std::string target)
    : directory_(std::move(directory)),
      given_directory_(std::move(given_directory)),
      directory_path_(std::move(directory_path)),
      name_(std::move(name)),
      temporary_("." + name_.substr(0, name_bytes_kept) + ".upgrader"),
      committed_(std::move(target)) {}

std::variant<Link, LinkRefused> Link::open(const std::string& path) {
  const auto refused = [&](int error) {
    const std::string reason =
        error == EINVAL ? "is no symbolic link, which --relink needs" : error_in_words(error);
    return LinkRefused{.error = error, .reason = path + ": " + reason};
  };
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::string parent = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  if (name.empty()) return refused(EINVAL);
  OwnedFd directory = open_directory(parent);
  if (!directory) return refused(errno);
  std::string target = read_link(directory, name);
  if (target.empty()) return refused(errno);
  char resolved[PATH_MAX];
  if (::realpath(parent.c_str(), resolved) == nullptr) return refused(errno);
  return Link(std::move(directory), as_given(parent), resolved, std::move(name), std::move(target));
}

// 0 while AGENT's path leads to the directory that is open here.
int Link::directory_changed() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(directory_.get(), &ours) != 0) return errno;
  if (::stat(given_directory_.c_str(), &named) != 0) return errno;
  return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino ? 0 : ESTALE;
}

int Link::make_temporary(const std::string& target) const {
  const auto make = [&] {
    return ::symlinkat(target.c_str(), directory_.get(), temporary_.c_str()) == 0 ? 0 : errno;
  };
  const int error = make();
  if (error != EEXIST || read_link(directory_, temporary_).empty()) return error;
  if (::unlinkat(directory_.get(), temporary_.c_str(), 0) != 0) return errno;
  return make();
}

// Makes a temporary that leads to that very file, and tells its text: where the relative way does
// not lead there, since the directory has been moved, the absolute one.
int Link::make_temporary_for(const Program& program, bool relative, std::string& target) const {
  target = relative ? relative_path(directory_path_, program.path()) : program.path();
  if (const int error = make_temporary(target); error != 0) return error;
  struct stat wanted {};
  struct stat found {};
  if (::fstat(program.descriptor(), &wanted) != 0) return errno;
  const bool leads_there = ::fstatat(directory_.get(), temporary_.c_str(), &found, 0) == 0 &&
                           found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
  if (leads_there) return 0;
  if (relative) return make_temporary_for(program, false, target);
  ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  return ESTALE;
}

int Link::put_temporary_in_place() const {
  const int result =
      ::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name_.c_str());
  if (result == 0) return 0;
  const int error = errno;
  ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  return error;
}

int Link::replace(const std::string& target) const {
  if (const int error = make_temporary(target); error != 0) return error;
  return put_temporary_in_place();
}

int Link::prove(const Program& program, const BeforeSync& before_sync) const {
  if (const int error = directory_changed(); error != 0) return error;
  const std::string present = read_link(directory_, name_);
  if (present.empty()) return errno;
  if (const int error = program.path_changed(); error != 0) return error;
  if (const int error = replace(present); error != 0) return error;
  return sync_release(program, before_sync);
}

int Link::commit(const Program& program, const BeforeSync& before_sync) {
  if (const int error = directory_changed(); error != 0) return error;
  const std::string present = read_link(directory_, name_);
  if (present.empty()) return errno;
  if (const int error = program.path_changed(); error != 0) return error;
  std::string target;
  if (const int error = make_temporary_for(program, present[0] != '/', target); error != 0) {
    return error;
  }
  if (const int error = put_temporary_in_place(); error != 0) return error;
  if (const int error = sync_open_file(directory_.get(), before_sync); error != 0) {
    static_cast<void>(replace(present));
    return error;
  }
  committed_ = std::move(target);
  return 0;
}

int Link::restore(const BeforeSync& before_sync) const {
  const std::string present = read_link(directory_, name_);
  if (present == committed_) return 0;
  if (present.empty() && errno != ENOENT) return errno;
  if (const int error = replace(committed_); error != 0) return error;
  return sync_open_file(directory_.get(), before_sync);
}

}  // namespace upgrader
