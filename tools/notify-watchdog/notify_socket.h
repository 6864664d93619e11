// The child's NOTIFY_SOCKET, and init's own: reads each notification of the child, and passes it on
// to init.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <vector>

#include "base/notify_listener.h"
#include "tools/notify-watchdog/notification.h"

namespace notify_watchdog {

// The most notifications that are kept while init's socket has no room. Further ones are lost, and
// the loss is logged.
inline constexpr std::size_t notifications_waiting_max = 64;

// The most datagrams that are read in one turn of the loop, so that a process that floods the
// socket keeps no signal and no deadline waiting: any process may send to it. The kernel queues
// fewer (net.unix.max_dgram_qlen), so that whatever came before a turn is read in it.
inline constexpr int datagrams_in_turn = 1'024;

class NotifySocket {
 public:
  // `outer` is the NOTIFY_SOCKET that init has set, or null. Returns false, with errno, if the
  // child's socket cannot be made.
  [[nodiscard]] bool open(const char* outer);
  // Sets the process whose notifications count. Those from root and from this program's user count,
  // too; all others are ignored.
  void set_child(pid_t child) { child_ = child; }

  // Returns the value of the child's NOTIFY_SOCKET: an abstract name that the kernel has chosen.
  [[nodiscard]] const std::string& name() const { return listener_.name(); }
  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  // Returns init's socket while notifications wait for room in it, to be polled for writing; else
  // -1.
  [[nodiscard]] int outer_awaited() const { return waiting_.empty() ? -1 : outer_.get(); }

  // Reads the datagrams that wait, at most datagrams_in_turn. Passes those that count on to init,
  // and returns them.
  [[nodiscard]] std::vector<Notification> take();
  // Sends the waiting notifications to init, as many as its socket has room for.
  void pass_on();

 private:
  using Datagram = upgrader::NotifyDatagram;

  void set_outer(const char* outer);
  [[nodiscard]] std::optional<Notification> judge(Datagram datagram);
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
