// A fake init. It has a socket of systemd's notification protocol, and keeps the messages that the
// upgrader sends to this socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "tests/together/integration/world.h"

namespace integration {

// The datagram socket of a fake init. The name of the socket is a path or an abstract name.
class Init {
 public:
  explicit Init(const std::string& name) : name_(name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  }
  ~Init() {
    ::close(fd_);
    for (const int sender : senders_)
      ::close(sender);
  }
  Init(const Init&) = delete;
  Init& operator=(const Init&) = delete;

  [[nodiscard]] std::string variable() const { return "NOTIFY_SOCKET=" + name_; }

  // Waits until some message contains `text`.
  void hears(World& world, const std::string& text) {
    world.wait_until(
        [&] {
          read();
          return told_.find(text) != std::string::npos;
        },
        "init hears " + text);
  }

  [[nodiscard]] int count(const std::string& text) {
    read();
    int count = 0;
    for (auto at = told_.find(text); at != std::string::npos; at = told_.find(text, at + 1)) {
      ++count;
    }
    return count;
  }

  // Returns how many messages have come from the upgrader.
  [[nodiscard]] std::size_t messages() {
    read();
    return messages_;
  }

  // Fills the socket, so that no message can be sent until somebody reads the socket. Sends from
  // several sockets, since the kernel also limits the number of unread messages of each sender.
  void fill() {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    for (bool room = true; room;) {
      senders_.push_back(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      room = false;
      while (::sendto(senders_.back(), "-", 1, 0, reinterpret_cast<sockaddr*>(&address), size) == 1)
        room = true;
    }
  }

  [[nodiscard]] static std::int64_t milliseconds_now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000 + time.tv_nsec / 1'000'000;
  }

 private:
  void read() {
    char packet[4'096];
    for (ssize_t size = 0; (size = ::recv(fd_, packet, sizeof packet, 0)) > 0;) {
      if (packet[0] == '-') continue;
      told_.append(packet, static_cast<std::size_t>(size));
      ++messages_;
    }
  }

  std::string name_;
  int fd_ = -1;
  std::string told_;
  std::size_t messages_ = 0;
  std::vector<int> senders_;
};

}  // namespace integration
