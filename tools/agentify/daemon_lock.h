// At most one daemon, whatever dies when: a lock that a keeper holds from before its daemon is
// started until no process of it is left.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // Without a lock: any number of daemons may run.
  DaemonLock() = default;
  // The upgrader's lock with `.daemon` behind it, or a file of our own.
  [[nodiscard]] static DaemonLock by_file(std::string path);

  // 0, EWOULDBLOCK where another holds it, or why it cannot be had. Never waits.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // A process that holds it, as far as /proc tells; or 0.
  [[nodiscard]] pid_t holder() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;  // empty: there is none
  upgrader::OwnedFd held_;
};

}  // namespace agentify
