#include "fleet/fleetctl/cell_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/directory.h"
#include "fleet/cell/cell_order.h"
#include "fleet/common/text_file.h"

namespace fleetctl {

std::string CellDirectory::open(const std::string& path, bool makes) {
  constexpr mode_t own_mode = 0700;
  if (makes && ::mkdir(path.c_str(), own_mode) != 0 && errno != EEXIST)
    return path + ": " + std::strerror(errno);
  const auto resolved = upgrader::resolve(path);
  struct stat status {};
  if (!resolved || ::stat(resolved->c_str(), &status) != 0)
    return path + ": " + std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return path + " is not a directory";
  path_ = *resolved;
  const int number = upgrader::OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  lock_.emplace(path_ + "/lock", number);
  const int refused = lock_->try_lock();
  if (refused == EWOULDBLOCK)
    return path_ + " is in use by another command: " + lock_->holder_in_words();
  if (refused != 0) return path_ + "/lock: " + upgrader::Lock::refusal_in_words(refused);
  lock_->write_holder();
  return "";
}

upgrader::Result<std::optional<fleet::CellTerms>> CellDirectory::terms() const {
  const std::string file = path_ + "/cell";
  if (::access(file.c_str(), F_OK) != 0) return std::optional<fleet::CellTerms>();
  const auto read = fleet::cell_in(fleet::content_of_file(file));
  if (!read) return upgrader::Refusal{file + ": " + read.reason()};
  return std::optional<fleet::CellTerms>(read.value());
}

}  // namespace fleetctl
