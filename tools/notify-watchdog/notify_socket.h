// The child's NOTIFY_SOCKET, and init's own: takes each notification, and passes it on.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "base/notify_listener.h"
#include "tools/notify-watchdog/notification.h"

namespace notify_watchdog {

// Notifications that wait for room in init's socket. Further ones are lost, which is logged.
inline constexpr std::size_t notifications_waiting_max = 64;

class NotifySocket {
 public:
  // `outer` is NOTIFY_SOCKET as init has set it, or null. False, with errno, if the child's socket
  // cannot be made.
  [[nodiscard]] bool open(const char* outer);
  // Notifications count if they come from the child, from root, or from this user.
  void set_child(pid_t child) { child_ = child; }

  // The value of the child's NOTIFY_SOCKET: an abstract name that the kernel has chosen.
  [[nodiscard]] const std::string& name() const { return listener_.name(); }
  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  // The descriptor on which to wait until it can be written to, or -1.
  [[nodiscard]] int outer_awaited() const { return waiting_.empty() ? -1 : outer_.get(); }

  // The next notification, which is also passed on to init; or nothing.
  [[nodiscard]] std::optional<Notification> take();
  // Sends what waits, as far as there is room.
  void pass_on();

 private:
  using Datagram = upgrader::NotifyDatagram;

  void set_outer(const char* outer);
  [[nodiscard]] bool counts(pid_t pid, uid_t uid) const;
  void queue(Datagram datagram);
  [[nodiscard]] bool send(const Datagram& datagram) const;

  upgrader::NotifyListener listener_;
  pid_t child_ = -1;
  upgrader::OwnedFd outer_;
  sockaddr_un outer_address_{};
  socklen_t outer_bytes_ = 0;
  std::vector<Datagram> waiting_;
  bool loss_logged_ = false;
  bool stranger_logged_ = false;
};

}  // namespace notify_watchdog
