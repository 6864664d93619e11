#include "tools/agentify/daemon_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/lock.h"

namespace agentify {

DaemonLock DaemonLock::by_file(std::string path) {
  DaemonLock lock;
  lock.path_ = std::move(path);
  return lock;
}

// The lock's descriptor is not close-on-exec, so the daemon inherits it. If agentify and the keeper
// are killed at the same time, the surviving daemon still holds the lock, and no second daemon can
// start. The keeper executes no other program, which could inherit the descriptor.
int DaemonLock::try_take() {
  if (path_.empty()) return 0;
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  upgrader::OwnedFd file(::open(path_.c_str(), flags, 0600));
  if (!file) return errno;
  struct stat ours {};
  if (::fstat(file.get(), &ours) != 0) return errno;
  if (!S_ISREG(ours.st_mode)) return EINVAL;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno;
  // Another process may have removed the lock's file before this process locked it. Then the next
  // process makes a new file, and a lock on the old file excludes nobody.
  struct stat named {};
  const bool same = ::fstatat(AT_FDCWD, path_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
  if (!same) return EWOULDBLOCK;
  held_ = std::move(file);
  return 0;
}

pid_t DaemonLock::holder() const {
  const upgrader::OwnedFd file(
      ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return 0;
  const std::vector<pid_t> holders = upgrader::lock_holders(file.get());
  return holders.empty() ? 0 : holders.front();
}

}  // namespace agentify
