#include "sample-agent/room.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "sample-agent/file.h"

namespace sample_agent {
namespace {

Refusal no_room(const std::string& directory, std::size_t bytes, const std::string& reason) {
  return Refusal{"no " + std::to_string(bytes) + " bytes can be written in " + directory + ": " +
                 reason};
}

bool is_about_room(int error) {
  return error == ENOSPC || error == EDQUOT;
}

// Asks the file system for its free space. A file system that does not report its size counts as
// having room.
Outcome ask_file_system(const std::string& directory, std::size_t bytes) {
  struct statvfs status;
  if (statvfs(directory.c_str(), &status) != 0) return refusal_from_errno("look at", directory);
  const bool is_full = status.f_bavail < bytes / status.f_frsize + 1;
  if (status.f_blocks == 0 || !is_full) return std::monostate{};
  return no_room(directory, bytes, std::strerror(ENOSPC));
}

}  // namespace

Outcome check_room(const std::string& directory, std::size_t bytes) {
  errno = 0;
  const Result<File> file = File::open(directory, O_WRONLY | O_TMPFILE);
  if (!file && is_about_room(errno)) return no_room(directory, bytes, std::strerror(errno));
  if (!file) return ask_file_system(directory, bytes);
  if (const Outcome written = file.value().write(std::string(bytes, 'x')); !written) {
    return no_room(directory, bytes, std::strerror(errno));
  }
  return std::monostate{};
}

}  // namespace sample_agent
