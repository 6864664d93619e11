#include "fleet/agent/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "upgrader/shell/owned_fd.h"

namespace fleet {
namespace {

bool write_and_sync(const std::string& path, const std::string& text) {
  const upgrader::OwnedFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) return false;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) && ::fsync(file.get()) == 0;
}

bool sync_directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  const upgrader::OwnedFd file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.get() >= 0 && ::fsync(file.get()) == 0;
}

}  // namespace

void Journal::read() {
  begun_.clear();
  std::ifstream file(path_);
  std::getline(file, begun_);
}

bool Journal::begin(const std::string& command) {
  const std::string fresh = path_ + ".new";
  if (!write_and_sync(fresh, command + "\n")) return false;
  if (std::rename(fresh.c_str(), path_.c_str()) != 0 || !sync_directory_of(path_)) return false;
  begun_ = command;
  return true;
}

}  // namespace fleet
