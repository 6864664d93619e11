#include "node/agentify/connection_probe.h"

#include <netdb.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "upgrader/core/errno_name.h"

namespace agentify {

std::optional<Address> find_address(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  Address address;
  std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

Address unix_address(const std::string& path) {
  sockaddr_un named{};
  named.sun_family = AF_UNIX;
  std::memcpy(named.sun_path, path.data(), std::min(path.size(), sizeof named.sun_path - 1));
  Address address;
  std::memcpy(&address.bytes, &named, sizeof named);
  address.size = sizeof named;
  return address;
}

std::optional<ProbeOutcome> ConnectionProbe::begin(const Address& address,
                                                   std::optional<std::string> request) {
  asks_ = request.has_value();
  request_ = std::move(request).value_or("");
  socket_.reset(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return ProbeOutcome{.words = in_words(upgrader::SystemError{errno})};
  const auto* const target = reinterpret_cast<const sockaddr*>(&address.bytes);
  if (::connect(socket_.get(), target, address.size) == 0) {
    connected_ = true;
    return exchange();
  }
  if (errno == EINPROGRESS) return std::nullopt;
  return ProbeOutcome{.words = "no connection: " + in_words(upgrader::SystemError{errno})};
}

std::optional<ProbeOutcome> ConnectionProbe::go_on() {
  if (!connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
      return ProbeOutcome{.words = "no connection: " + in_words(upgrader::SystemError{error})};
    connected_ = true;
  }
  return exchange();
}

std::optional<ProbeOutcome> ConnectionProbe::exchange() {
  if (!asks_) return ProbeOutcome{.good = true};
  while (sent_ < request_.size()) {
    const ssize_t count =
        ::send(socket_.get(), request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (count < 0) return ProbeOutcome{.words = in_words(upgrader::SystemError{errno})};
    sent_ += static_cast<std::size_t>(count);
  }
  while (answer_.size() < http_answer_bytes_max) {
    char bytes[http_answer_bytes_max];
    const ssize_t count = ::read(socket_.get(), bytes, sizeof bytes - answer_.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (count < 0) return ProbeOutcome{.words = in_words(upgrader::SystemError{errno})};
    if (count == 0) return ProbeOutcome{.words = "the connection was closed without an answer"};
    answer_.append(bytes, static_cast<std::size_t>(count));
    if (http_status(answer_)) break;
  }
  const std::optional<int> status = http_status(answer_);
  if (!status) return std::nullopt;
  if (*status == 0) return ProbeOutcome{.words = "the answer is none in HTTP"};
  if (is_good_http_status(*status)) return ProbeOutcome{.good = true};
  return ProbeOutcome{.words = "the answer has status " + std::to_string(*status)};
}

}  // namespace agentify
