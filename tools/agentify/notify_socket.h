// The daemon's own NOTIFY_SOCKET. Any process may send messages to it, so a message counts only if
// the kernel says that its sender descends from the keeper.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/notify_listener.h"
#include "tools/agentify/notify_message.h"

namespace agentify {

class NotifySocket {
 public:
  // Makes the socket. Returns false, with errno, if that fails.
  [[nodiscard]] bool open() { return listener_.open(); }
  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  // Returns the value of NOTIFY_SOCKET.
  [[nodiscard]] const std::string& name() const { return listener_.name(); }

  struct Received {
    NotifyMessage message;
    pid_t stranger = 0;  // the sender's pid if it does not descend from the keeper; else 0
  };
  // Returns the next message, or nothing.
  [[nodiscard]] std::optional<Received> take(pid_t keeper) const;

 private:
  upgrader::NotifyListener listener_;
};

}  // namespace agentify
