// A lock by which at most one daemon runs, whatever process dies at whatever time. A keeper takes
// the lock before it starts the daemon, and holds it until no process of the daemon is left.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // Makes an object that locks nothing, so that any number of daemons may run.
  DaemonLock() = default;
  // Makes a lock with the file `path`. This is the path of the upgrader's lock with `.daemon`
  // appended, or a path in a directory of agentify's own.
  [[nodiscard]] static DaemonLock by_file(std::string path);

  // Tries to take the lock, without waiting. Returns 0 if this process holds the lock now,
  // EWOULDBLOCK if another process holds it, or else another errno value.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // Returns the pid of a process that holds the lock, or 0 if /proc shows no such process.
  [[nodiscard]] pid_t holder() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;  // the path of the lock's file; empty if there is no lock
  upgrader::OwnedFd held_;
};

}  // namespace agentify
