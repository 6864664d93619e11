// A lock that makes sure that at most one daemon runs, whichever process dies at whatever time. A
// keeper holds it from before its daemon is started until no process of the daemon is left.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // Makes an object without a lock: any number of daemons may run.
  DaemonLock() = default;
  // Makes a lock at `path`: the path of the upgrader's lock with `.daemon` appended, or of a file
  // of our own.
  [[nodiscard]] static DaemonLock by_file(std::string path);

  // Tries to take the lock, without waiting. Returns 0 if this process now holds it, EWOULDBLOCK if
  // another process does, or another errno value.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // Returns a process that holds the lock, or 0 if /proc shows none.
  [[nodiscard]] pid_t holder() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;  // the path of the lock's file; empty if there is no lock
  upgrader::OwnedFd held_;
};

}  // namespace agentify
