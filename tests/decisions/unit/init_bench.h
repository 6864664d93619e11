// A fixture with the notification socket of an init, and with an InitSystem that writes to this
// socket. The test moves the InitSystem's clock.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/decisions/unit/temporary_directory.h"
#include "upgrader/shell/init_system.h"

namespace upgrader::test {

using Texts = std::vector<std::string>;

inline constexpr Time start{1'000'000};

// A notification socket of init, and an InitSystem that writes to it. The test reads the socket
// only when it calls heard().
class InitBench {
 public:
  explicit InitBench(Duration watchdog = Duration::zero())
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    address_.sun_family = AF_UNIX;
    path().copy(address_.sun_path, sizeof address_.sun_path - 1);
    REQUIRE(::bind(socket_.get(), address(), sizeof address_) == 0);
    init_.emplace(path().c_str(), watchdog);
  }

  InitSystem& init() { return *init_; }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }
  void tell(const InitNews& news, Duration after = Duration::zero()) {
    init_->tell(news, start + after);
  }

  // Returns the messages that have arrived since the last call, except for those that fill() has
  // sent.
  Texts heard() {
    Texts messages;
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
  void vanish() { REQUIRE(::unlink(path().c_str()) == 0); }
  // Moves the clock until the time `after` has passed since the clock's start. Wakes the InitSystem
  // whenever one of the InitSystem's deadlines is due. Calls `each` with the time and the text of
  // each message. Returns how often the InitSystem was woken.
  int wake_until(Duration after, const std::function<void(Time, const std::string&)>& each = {}) {
    int count = 0;
    for (auto next = init_->next_deadline(); next && *next <= start + after;
         next = init_->next_deadline()) {
      now_ = std::max(*next, now_);
      init_->tell_what_is_due(now_);
      REQUIRE(++count < 1'000);
      if (!each) continue;
      for (const std::string& message : heard())
        each(now_, message);
    }
    now_ = start + after;
    return count;
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() + "/notify"; }

  [[nodiscard]] const sockaddr* address() const {
    return reinterpret_cast<const sockaddr*>(&address_);
  }

  TemporaryDirectory directory_;
  sockaddr_un address_{};
  OwnedFd socket_;
  std::optional<InitSystem> init_;
  Time now_ = start;
};

inline InitNews news(const std::string& status, bool active = true) {
  InitNews made;
  made.active = active;
  made.status = status;
  return made;
}

inline InitNews waiting(InitWait::What what, Duration left, Generation generation = 1) {
  InitNews made = news("waits", what == InitWait::What::stopped);
  made.wait = InitWait{what, generation, start + left};
  return made;
}

// Returns an InitNews (the facts from which messages to init are made) for the case that the
// upgrader waits for an agent that has sent `extend`.
inline InitNews extended(InitWait::What what, Duration left, Generation generation = 1) {
  InitNews made = waiting(what, left, generation);
  made.wait->extended = true;
  return made;
}

inline InitNews reloading(std::int64_t reloads, bool under_way) {
  InitNews made = news(under_way ? "reloads" : "runs");
  made.reloads = reloads;
  made.reloading = under_way;
  return made;
}

}  // namespace upgrader::test
