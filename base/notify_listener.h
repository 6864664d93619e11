// A socket that this process opens as NOTIFY_SOCKET for its own children, which write to it by
// sd_notify(3). The class does not interpret the messages; the caller decides from which senders it
// accepts them.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace upgrader {

struct NotifyDatagram {
  std::string text;
  // True if the datagram was longer than the caller allows, so that only its beginning was kept.
  bool is_cut = false;
  // The sender's pid; 0 if the kernel has not added one.
  ucred sender{.pid = 0, .uid = uid_t(-1), .gid = gid_t(-1)};
  // The descriptors that came with the datagram, as with FDSTORE=1.
  std::vector<OwnedFd> descriptors;
};

class NotifyListener {
 public:
  // Opens an abstract socket, whose name the kernel chooses. Returns false, with errno, if that
  // fails.
  [[nodiscard]] bool open();

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // Returns the value of NOTIFY_SOCKET for processes that are to write to this socket.
  [[nodiscard]] const std::string& name() const { return name_; }

  // Returns the next datagram, of at most `bytes_max` bytes, or nothing. Never waits. The
  // descriptors that came with a datagram are closed when the returned object is destroyed; a
  // sender that has called sd_notify_barrier(3) waits until then.
  [[nodiscard]] std::optional<NotifyDatagram> receive(std::size_t bytes_max) const;

 private:
  OwnedFd socket_;
  std::string name_;
};

}  // namespace upgrader
