// The daemon's own NOTIFY_SOCKET: an abstract one, whose name the kernel chooses. Anybody may send
// there, so a message counts only if the kernel says that its sender descends from the keeper.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "tools/agentify/notify_message.h"

namespace agentify {

class NotifySocket {
 public:
  // False, with errno, where it cannot be made.
  [[nodiscard]] bool open();
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // The value of NOTIFY_SOCKET.
  [[nodiscard]] const std::string& name() const { return name_; }

  struct Received {
    NotifyMessage message;
    pid_t stranger = 0;  // not 0: a process that has nothing to say here has said something
  };
  // The next message, or nothing. Descriptors that come with one are closed, which is what
  // sd_notify_barrier(3) waits for.
  [[nodiscard]] std::optional<Received> take(pid_t keeper) const;

 private:
  upgrader::OwnedFd socket_;
  std::string name_;
};

}  // namespace agentify
