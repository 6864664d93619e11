#include "upgrader/shell/link_place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/program.h"
#include "upgrader/core/words.h"

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

// The path with its links, but from the root.
std::string as_given(const std::string& path) {
  char here[PATH_MAX];
  if (path[0] == '/' || ::getcwd(here, sizeof here) == nullptr) return path;
  return "{}/{}"_with(here, path);
}

}  // namespace

LinkPlace::LinkPlace(OwnedFd directory, std::string given_directory, std::string name)
    : directory_(std::move(directory)),
      given_directory_(std::move(given_directory)),
      name_(std::move(name)),
      prepared_(".{}.upgrader"_with(std::string_view(name_).substr(0, name_bytes_kept))) {}

std::variant<LinkPlace, int> LinkPlace::open(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::string parent = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  if (name.empty()) return EINVAL;
  OwnedFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno;
  return LinkPlace(std::move(directory), as_given(parent), std::move(name));
}

std::string LinkPlace::read() const {
  return read_link(directory_, name_);
}

int LinkPlace::prepare(const std::string& target) const {
  const auto make = [&] {
    return ::symlinkat(target.c_str(), directory_.get(), prepared_.c_str()) == 0 ? 0 : errno;
  };
  const int error = make();
  if (error != EEXIST || read_link(directory_, prepared_).empty()) return error;
  if (::unlinkat(directory_.get(), prepared_.c_str(), 0) != 0) return errno;
  return make();
}

int LinkPlace::put() const {
  const int result =
      ::renameat(directory_.get(), prepared_.c_str(), directory_.get(), name_.c_str());
  if (result == 0) return 0;
  const int error = errno;
  discard();
  return error;
}

void LinkPlace::discard() const {
  ::unlinkat(directory_.get(), prepared_.c_str(), 0);
}

int LinkPlace::replace(const std::string& target) const {
  if (const int error = prepare(target); error != 0) return error;
  return put();
}

int LinkPlace::moved() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(directory_.get(), &ours) != 0) return errno;
  if (::stat(given_directory_.c_str(), &named) != 0) return errno;
  return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino ? 0 : ESTALE;
}

std::string LinkPlace::way_to(const std::string& path) const {
  const std::optional<std::string> directory = resolve(given_directory_);
  if (!directory) return path;
  std::string from = *directory;
  if (from != "/") from += '/';
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

}  // namespace upgrader
