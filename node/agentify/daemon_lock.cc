#include "node/agentify/daemon_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "upgrader/shell/lock.h"

namespace agentify {

DaemonLock DaemonLock::by_file(std::string path) {
  DaemonLock lock;
  lock.kind_ = Kind::file;
  lock.name_ = std::move(path);
  return lock;
}

DaemonLock DaemonLock::by_upgrader(pid_t upgrader) {
  DaemonLock lock;
  lock.kind_ = Kind::socket;
  lock.name_ = "agentify/" + std::to_string(upgrader) + "/" +
               std::to_string(upgrader::process_start_time(upgrader).value_or(0));
  return lock;
}

int DaemonLock::try_take() {
  switch (kind_) {
    case Kind::none:
      return 0;
    case Kind::file:
      return take_file();
    case Kind::socket:
      return take_name();
  }
  return 0;
}

// Not close-on-exec: the keeper executes nothing but the daemon, and a daemon that has outlived
// agentify and keeper, killed at one instant, still keeps the next one away.

int DaemonLock::take_file() {
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  upgrader::OwnedFd file(::open(name_.c_str(), flags, 0600));
  if (!file) return errno;
  struct stat ours {};
  if (::fstat(file.get(), &ours) != 0) return errno;
  if (!S_ISREG(ours.st_mode)) return EINVAL;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno;
  // Somebody may have removed it meanwhile: then it keeps nobody away.
  struct stat named {};
  const bool same = ::fstatat(AT_FDCWD, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
  if (!same) return EWOULDBLOCK;
  held_ = std::move(file);
  return 0;
}

int DaemonLock::take_name() {
  upgrader::OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
  if (!socket) return errno;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name_.data(), name_.size());  // a NUL in front: no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    return errno == EADDRINUSE ? EWOULDBLOCK : errno;
  }
  held_ = std::move(socket);
  return 0;
}

}  // namespace agentify
