#include "fleet/common/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/directory.h"
#include "base/owned_fd.h"

namespace fleet {
namespace {

std::string error_words(const std::string& path, int error = errno) {
  return path + ": " + std::strerror(error);
}

}  // namespace

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // does not throw
  return text.str();
}

agent_protocol::Result<std::optional<std::string>> content_of_regular_file(
    const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::optional<std::string>();
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return agent_protocol::Refusal{error_words(path)};
  if (!S_ISREG(status.st_mode)) return agent_protocol::Refusal{path + ": is no regular file"};
  std::string text;
  std::array<char, 16'384> bytes;
  while (true) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count == 0) return std::optional(std::move(text));
    if (count < 0) return agent_protocol::Refusal{error_words(path)};
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::string why_unread(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char byte = 0;
  const bool is_read = file && (::read(file.get(), &byte, 1) >= 0 || errno == EAGAIN);
  return is_read ? "" : error_words(path);
}

std::optional<std::string> beginning_of_file(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  // read() does not throw: if `path` is a directory, bad() is true afterwards.
  file.read(text.data(), static_cast<std::streamsize>(most));
  if (!file.is_open() || file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string replace_file(const std::string& path, const std::string& content, unsigned int mode) {
  upgrader::Entry file;
  int error = file.open(path);
  if (error == 0) error = file.directory.replace_file(file.name, content, true, mode);
  return error == 0 ? "" : error_words(path, error);
}

}  // namespace fleet
