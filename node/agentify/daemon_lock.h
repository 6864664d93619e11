// At most one daemon, whatever dies when: a lock that a keeper holds from before its daemon is
// started until no process of it is left.
#pragma once

#include <sys/types.h>

#include <string>

#include "upgrader/shell/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // None: nobody is kept away.
  DaemonLock() = default;
  // The upgrader's lock with `.daemon` behind it.
  [[nodiscard]] static DaemonLock by_file(std::string path);
  // Where the upgrader has no lock: a name of the kernel's that this upgrader alone gives its
  // agents, and that goes with whoever holds it.
  [[nodiscard]] static DaemonLock by_upgrader(pid_t upgrader);

  // 0, EWOULDBLOCK where another holds it, or why it cannot be had. Never waits.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // What it is, for people.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  enum class Kind { none, file, socket };

  [[nodiscard]] int take_file();
  [[nodiscard]] int take_name();

  Kind kind_ = Kind::none;
  std::string name_;
  upgrader::OwnedFd held_;
};

}  // namespace agentify
