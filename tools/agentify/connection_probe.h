// Asks a daemon over a socket, without waiting: whether it takes a connection, or answers in HTTP.
// The loop waits for the descriptor, and sets the time limit.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "tools/agentify/http_url.h"

namespace agentify {

// A place that can be connected to.
struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// A name has seldom more than two, and each is given its part of the time for an answer.
inline constexpr std::size_t addresses_max = 16;

// All that HOST has, at most addresses_max. It may be a name: the lookup waits, so it is made
// before the loop begins.
[[nodiscard]] std::vector<Address> find_addresses(const std::string& host, std::uint16_t port);
// "127.0.0.1" or "::1"; empty for one of another kind.
[[nodiscard]] std::string in_words(const Address& address);
[[nodiscard]] Address unix_address(const std::string& path);

struct ProbeOutcome {
  bool good = false;
  std::string words = {};  // what is wrong
};

class ConnectionProbe {
 public:
  // Connects; with `request` sends that and waits for an answer's first line. An outcome at once
  // where nobody has to be waited for.
  [[nodiscard]] std::optional<ProbeOutcome> begin(const Address& address,
                                                  std::optional<std::string> request);
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] bool wants_to_write() const { return !connected_ || sent_ < request_.size(); }
  // To be called when the descriptor is ready. Returns the outcome, or nothing while the probe goes
  // on.
  [[nodiscard]] std::optional<ProbeOutcome> go_on();

 private:
  [[nodiscard]] std::optional<ProbeOutcome> exchange();

  upgrader::OwnedFd socket_;
  bool connected_ = false;
  bool asks_ = false;
  std::string request_;
  std::size_t sent_ = 0;
  std::string answer_;
};

}  // namespace agentify
