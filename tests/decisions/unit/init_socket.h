// A fixture with the notification socket of an init.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "tests/support/temporary_directory.h"

namespace upgrader::test {

// A notification socket of init, which the test reads only when it calls heard().
class InitSocket {
 public:
  InitSocket() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    address_.sun_family = AF_UNIX;
    path().copy(address_.sun_path, sizeof address_.sun_path - 1);
    REQUIRE(::bind(socket_.get(), address(), sizeof address_) == 0);
  }

  [[nodiscard]] std::string path() const { return directory_.path() + "/notify"; }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }

  // Returns the messages that have arrived since the last call, except for those that fill() has
  // sent.
  std::vector<std::string> heard() {
    std::vector<std::string> messages;
    char packet[4'096];
    for (ssize_t size = 0; (size = ::recv(socket_.get(), packet, sizeof packet, 0)) > 0;) {
      if (packet[0] != '-') messages.emplace_back(packet, static_cast<std::size_t>(size));
    }
    return messages;
  }
  // Fills the socket, so that no message can be sent until the test reads the socket. Uses several
  // senders, because the kernel also limits the number of unread messages of each sender.
  void fill() {
    for (bool room = true; room;) {
      const OwnedFd other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      room = false;
      while (::sendto(other.get(), "-", 1, MSG_DONTWAIT, address(), sizeof address_) == 1)
        room = true;
      REQUIRE(errno == EAGAIN);
    }
  }

 private:
  [[nodiscard]] const sockaddr* address() const {
    return reinterpret_cast<const sockaddr*>(&address_);
  }

  TemporaryDirectory directory_;
  sockaddr_un address_{};
  OwnedFd socket_;
};

}  // namespace upgrader::test
