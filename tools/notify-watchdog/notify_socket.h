// The NOTIFY_SOCKET that notify-watchdog gives to its child, the watched program, and the
// NOTIFY_SOCKET that init has given to notify-watchdog. The class NotifySocket reads each
// notification of the child, and sends it on to init.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <vector>

#include "base/notify_listener.h"
#include "tools/notify-watchdog/guard.h"

namespace notify_watchdog {

// The largest number of notifications that wait while init's socket has no room. Further
// notifications are dropped, and the log then says so.
inline constexpr std::size_t notifications_waiting_max = 64;

// The time after which waiting notifications are sent again.
inline constexpr upgrader::Duration pass_on_interval = std::chrono::milliseconds{100};

// The most datagrams that are read in one turn of the loop. Any process can send to the socket, and
// must not be able to delay signals and deadlines by a flood of datagrams. The kernel queues fewer
// datagrams than this limit (net.unix.max_dgram_qlen), so all datagrams that came before a turn are
// read in that turn.
inline constexpr int datagrams_in_turn = 1'024;

class NotifySocket {
 public:
  // Makes the child's socket. `outer` is the NOTIFY_SOCKET that init has set, or null. On failure
  // returns false and sets errno.
  [[nodiscard]] bool open(const char* outer);
  // Sets the pid of the child. A notification counts only if its sender is the child, or a process
  // of root or of this program's user. All other notifications are ignored.
  void set_child(pid_t child) { child_ = child; }

  // Returns the child's NOTIFY_SOCKET: an abstract name that the kernel has chosen.
  [[nodiscard]] const std::string& name() const { return listener_.name(); }
  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  // Returns true while notifications wait for room in the queue of init's socket. The caller must
  // then call pass_on() every pass_on_interval. poll() would not help: it reports room in that
  // queue only to sockets that are connected to init's socket.
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

  // Reads the datagrams that have come, at most datagrams_in_turn. Ignores datagrams that are too
  // long, or whose sender does not count (see set_child()). Sends all other datagrams on to init,
  // and returns them.
  [[nodiscard]] std::vector<Notification> take();
  // Sends as many waiting notifications to init as init's socket has room for.
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
