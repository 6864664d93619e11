// Serves a counter on a TCP port: each connection gets the next number. No number is given twice.
//
// usage: hello-agent PORT FILE, where FILE contains the last number that was given. Each number is
// on the disk before it is sent, so a crash or a power cut may skip a number, but repeats none.
#include <agent-protocol/agent.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using agent_protocol::Agent;

namespace {

// Returns the last number that was given: 0 if there is no file yet, and nothing if the file cannot
// be read.
std::optional<long> last(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return 0;
  long number = -1;
  if (!(std::ifstream(path) >> number)) return std::nullopt;
  return number;
}

bool sync(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool durable = file >= 0 && ::fsync(file) == 0;
  ::close(file);
  return durable;
}

// Writes the next number to the disk, and then returns the number; returns nothing after a failure.
std::optional<long> next(const std::filesystem::path& path) {
  const std::optional<long> before = last(path);
  const std::filesystem::path fresh = path.string() + ".new";
  if (!before || !(std::ofstream(fresh) << *before + 1).flush() || !sync(fresh)) return {};
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return {};
  if (!sync(std::filesystem::absolute(path).parent_path())) return {};
  return *before + 1;
}

int listen_on(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const auto* bound = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listener, bound, sizeof address) != 0) return -1;
  return ::listen(listener, SOMAXCONN) == 0 ? listener : -1;
}

void serve(int listener, const std::filesystem::path& path) {
  const int connection = ::accept(listener, nullptr, nullptr);
  if (connection < 0) return;
  // The number is skipped if the client has disconnected.
  if (const std::optional<long> number = next(path)) ::dprintf(connection, "%ld\n", *number);
  ::close(connection);
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Agent> agent = Agent::open("1.0");  // must be called before anything else
  if (!agent || argc != 3) return 2;
  std::uint16_t port = 0;
  const auto read = std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), port);
  if (read.ec != std::errc{} || *read.ptr != '\0') return 2;
  const std::filesystem::path path = argv[2];
  agent->add_check("counter", [&]() -> std::optional<std::string> {
    if (last(path)) return std::nullopt;
    return "cannot read a number from " + path.string();
  });
  if (!agent->ready()) return 1;
  for (int listener = -1, pause = -1;;) {  // pause: the time between heartbeats, in ms
    pollfd watched[] = {{agent->fd(), POLLIN, 0}, {listener, POLLIN, 0}};
    if (::poll(watched, 2, pause) > 0 && watched[1].revents != 0) serve(listener, path);
    if (listener >= 0 && pause >= 0) agent->heartbeat();
    while (const std::optional<Agent::Event> event = agent->next()) {
      if (const auto* welcome = std::get_if<Agent::Welcome>(&*event)) {
        if (welcome->watchdog) pause = static_cast<int>(welcome->watchdog->count()) / 3;
      } else if (std::get_if<Agent::Activate>(&*event)) {
        if ((listener = listen_on(port)) < 0) return 1;
      } else if (std::get_if<Agent::Stop>(&*event)) {
        ::close(listener);  // give up the port before saying stopped
        return agent->stopped() ? 0 : 1;
      }
    }
  }
}
