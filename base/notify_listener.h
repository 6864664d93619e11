// A NOTIFY_SOCKET of our own, as sd_notify(3) writes to it. Does not interpret the messages; the
// caller decides which senders count.
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
  bool is_cut = false;                                         // it was longer than was asked for
  ucred sender{.pid = 0, .uid = uid_t(-1), .gid = gid_t(-1)};  // pid 0: the kernel does not say
  std::vector<OwnedFd> descriptors;                            // such as those of FDSTORE=1
};

class NotifyListener {
 public:
  // An abstract socket, whose name the kernel chooses. False, with errno, if none can be made.
  [[nodiscard]] bool open();

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // The value of NOTIFY_SOCKET for those who are to write there.
  [[nodiscard]] const std::string& name() const { return name_; }

  // The next datagram, of at most so many bytes; or nothing. Never waits. Descriptors that came
  // with it are closed with it, which is what sd_notify_barrier(3) waits for.
  [[nodiscard]] std::optional<NotifyDatagram> receive(std::size_t bytes_max) const;

 private:
  OwnedFd socket_;
  std::string name_;
};

}  // namespace upgrader
