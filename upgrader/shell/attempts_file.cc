#include "upgrader/shell/attempts_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "upgrader/core/words.h"

namespace upgrader {
namespace {

// A number, a path and a sentence.
constexpr std::size_t bytes_max = std::size_t{2} * PATH_MAX;

int write_whole(int fd, const std::string& text, bool hurried) {
  const ssize_t count = ::write(fd, text.data(), text.size());
  if (count < 0) return errno;
  if (static_cast<std::size_t>(count) != text.size()) return ENOSPC;
  return hurried || ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

std::variant<AttemptsFile, int> AttemptsFile::open(const std::string& path) {
  auto place = LinkPlace::open("{}.attempts"_with(path));
  if (const int* error = std::get_if<int>(&place)) return *error;
  return AttemptsFile(std::get<LinkPlace>(std::move(place)));
}

Attempts AttemptsFile::read() const {
  const OwnedFd file(::openat(place_.directory(), place_.name().c_str(),
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return {};
  std::string text(bytes_max, '\0');
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  if (count <= 0) return {};
  return read_attempts(std::string_view(text).substr(0, static_cast<std::size_t>(count)));
}

int AttemptsFile::write(const Attempts& attempts, bool hurried) const {
  const std::string fresh = place_.prepared_name();
  ::unlinkat(place_.directory(), fresh.c_str(), 0);
  const OwnedFd file(::openat(place_.directory(), fresh.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return errno;
  if (const int error = write_whole(file.get(), print(attempts), hurried); error != 0) {
    place_.discard();
    return error;
  }
  if (const int error = place_.put(); error != 0) return error;
  return hurried || ::fsync(place_.directory()) == 0 ? 0 : errno;
}

}  // namespace upgrader
