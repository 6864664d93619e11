// Tests how many notifications notify-watchdog reads at once.
#include "tools/notify-watchdog/notify_socket.h"

#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace notify_socket_test {

using namespace notify_watchdog;

namespace {

// Sends notifications to the socket as fast as possible, until `over` is set.
void flood(const std::string& name, const std::atomic<bool>& over) {
  const upgrader::OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  while (!over) {
    static_cast<void>(::sendto(socket.get(), "STATUS=x", 8, 0,
                               reinterpret_cast<const sockaddr*>(&address), size));
  }
}

TEST_CASE("however fast notifications come, a turn ends, and reads no more than its share") {
  NotifySocket socket;
  REQUIRE(socket.open(nullptr));
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { flood(socket.name(), over); });
  for (int turn = 0; turn < 100; ++turn)
    CHECK(socket.take().size() <= datagrams_in_turn);
  over = true;
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace

}  // namespace notify_socket_test
