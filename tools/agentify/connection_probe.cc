#include "tools/agentify/connection_probe.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "base/errno_name.h"

namespace agentify {
namespace {

ProbeOutcome not_connected(int error) {
  if (error == ECONNREFUSED) return {.words = "refused"};
  return {.words = "no connection: " + in_words(upgrader::SystemError{error})};
}

}  // namespace

std::vector<Address> find_addresses(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr && addresses.size() < addresses_max;
       one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address;
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    addresses.push_back(address);
  }
  return addresses;
}

std::string in_words(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.bytes.ss_family == AF_INET) {
    sockaddr_in named{};
    std::memcpy(&named, &address.bytes, sizeof named);
    ::inet_ntop(AF_INET, &named.sin_addr, text, sizeof text);
  } else if (address.bytes.ss_family == AF_INET6) {
    sockaddr_in6 named{};
    std::memcpy(&named, &address.bytes, sizeof named);
    ::inet_ntop(AF_INET6, &named.sin6_addr, text, sizeof text);
  }
  return text;
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
  return not_connected(errno);
}

std::optional<ProbeOutcome> ConnectionProbe::go_on() {
  if (!connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return not_connected(error);
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
  if (*status == 0) return ProbeOutcome{.words = "the answer is not one in HTTP"};
  if (is_good_http_status(*status)) return ProbeOutcome{.good = true};
  return ProbeOutcome{.words = "http: " + std::to_string(*status)};
}

}  // namespace agentify
