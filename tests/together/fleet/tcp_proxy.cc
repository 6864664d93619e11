#include "tests/together/fleet/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace fleet::test {
namespace {

constexpr std::size_t buffer_bytes_max = 1u << 20u;
constexpr int look_again_ms = 2;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// Returns a socket that is bound to this port, or -1 if that fails. With port 0, the kernel chooses
// a port.
int socket_at(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = local(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int bound_socket() {
  const int fd = socket_at(0);
  if (fd < 0) throw std::runtime_error("no port is free");
  return fd;
}

}  // namespace

int free_port() {
  constexpr int first = 10'000;
  int end = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> end;
  std::random_device random;
  for (int tries = 0; tries < 1'000; ++tries) {
    const int fd =
        socket_at(end > first ? std::uniform_int_distribution(first, end - 1)(random) : 0);
    if (fd < 0) continue;
    const int port = port_of(fd);
    close(fd);
    return port;
  }
  throw std::runtime_error("no port is free");
}

TcpProxy::TcpProxy(int target_port, Rule rule, Identify identify)
    : target_port_(target_port),
      rule_(std::move(rule)),
      identify_(std::move(identify)),
      listener_(bound_socket()),
      port_(port_of(listener_)) {
  if (listen(listener_, 128) != 0) throw std::runtime_error("cannot listen");
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  over_ = true;
  thread_.join();
  for (Pair& pair : pairs_) {
    end(pair);
  }
  close(listener_);
}

void TcpProxy::break_connections() {
  break_ = true;
  while (break_ && !over_) {
    std::this_thread::yield();
  }
}

void TcpProxy::run() {
  while (!over_) {
    std::vector<pollfd> watched{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      if (rule_(pair.who) == Mode::hold) continue;
      if (pair.to_server.size() < buffer_bytes_max) watched.push_back({pair.client, POLLIN, 0});
      if (pair.to_client.size() < buffer_bytes_max) watched.push_back({pair.server, POLLIN, 0});
    }
    poll(watched.data(), watched.size(), look_again_ms);
    if ((watched[0].revents & POLLIN) != 0) accept_one();
    const bool all = break_;
    for (Pair& pair : pairs_) {
      if (all) end(pair);
      look_at(pair);
    }
    pairs_.remove_if([](const Pair& pair) { return pair.ended; });
    open_now_ = pairs_.size();
    if (all) break_ = false;
  }
}

void TcpProxy::accept_one() {
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const int client = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC);
  if (client < 0) return;
  const int who = identify_(ntohs(from.sin_port));
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in target = local(target_port_);
  const bool refused =
      rule_(who) == Mode::refuse ||
      connect(server, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0;
  if (refused) {
    close(client);
    close(server);
    return;
  }
  const int on = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ++opened_;
  pairs_.push_back(Pair{.client = client, .server = server, .who = who});
}

void TcpProxy::look_at(Pair& pair) {
  if (pair.ended) return;
  const Mode mode = rule_(pair.who);
  if (mode == Mode::hold) return;
  const bool lives = mode != Mode::refuse &&
                     move(pair.client, pair.server, pair.to_server, false) &&
                     move(pair.server, pair.client, pair.to_client, mode == Mode::swallow);
  if (!lives) end(pair);
}

// Moves bytes from one connection to the other. Returns false if one of the connections was closed.
bool TcpProxy::move(int from, int to, std::string& buffer, bool swallow) {
  char bytes[65'536];
  bool ended = false;
  while (buffer.size() < buffer_bytes_max) {
    const ssize_t count = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) ended = true;
    if (count <= 0) break;
    if (!swallow) buffer.append(bytes, static_cast<std::size_t>(count));
  }
  while (!buffer.empty()) {
    const ssize_t count = send(to, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN && !ended) break;
    if (count <= 0) return false;
    buffer.erase(0, static_cast<std::size_t>(count));
  }
  return !ended;
}

void TcpProxy::end(Pair& pair) {
  if (std::exchange(pair.ended, true)) return;
  close(pair.client);
  close(pair.server);
}

}  // namespace fleet::test
