// Implements the part of HttpServer that begins to listen: sets the address, the certificates, and
// the limits for connections.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <utility>
#include <vector>

#include "fleet/http/server.h"

namespace fleet {
namespace {

// libmicrohttpd closes a connection after this many seconds without traffic.
constexpr unsigned int idle_seconds = 60;

// Makes the socket address for a host and a port. Returns false unless the host is a numeric
// address or `localhost`.
bool socket_address(const std::string& host, std::uint16_t port, sockaddr_storage& address) {
  std::memset(&address, 0, sizeof address);
  auto* four = reinterpret_cast<sockaddr_in*>(&address);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address);
  if (inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return true;
  }
  if (inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  return true;
}

}  // namespace

std::uint16_t HttpServer::port() const {
  const auto* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? std::uint16_t{0} : info->port;
}

void HttpServer::listen() {
  sockaddr_storage address{};
  if (!socket_address(settings_.host, settings_.port, address)) {
    error_ = settings_.host + " is no address";
    return;
  }
  const ServerCertificates& certificates = settings_.certificates;
  std::vector<MHD_OptionItem> options{
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<std::intptr_t>(connections_max), nullptr},
      {MHD_OPTION_PER_IP_CONNECTION_LIMIT, static_cast<std::intptr_t>(connections_of_address_max),
       nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, static_cast<std::intptr_t>(idle_seconds), nullptr},
      {MHD_OPTION_SOCK_ADDR, 0, &address}};
  unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  if (address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
  if (!certificates.own.empty()) {
    flags |= MHD_USE_TLS;
    const auto add = [&options](MHD_OPTION option, const std::string& pem) {
      options.push_back({option, 0, const_cast<char*>(pem.c_str())});
    };
    add(MHD_OPTION_HTTPS_MEM_CERT, certificates.own);
    add(MHD_OPTION_HTTPS_MEM_KEY, certificates.key);
    add(MHD_OPTION_HTTPS_MEM_TRUST, certificates.authority);
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  const auto begun = [](void* self, const char* url, MHD_Connection* connection) -> void* {
    return static_cast<HttpServer*>(self)->begin(connection, const_cast<char*>(url));
  };
  const auto handler = [](void* self, MHD_Connection* connection, const char* url,
                          const char* method, const char*, const char* data, std::size_t* size,
                          void** closure) {
    return static_cast<HttpServer*>(self)->take(connection, url, method, data, size, closure);
  };
  const MHD_RequestCompletedCallback completed = [](void* self, MHD_Connection*, void** closure,
                                                    MHD_RequestTerminationCode) {
    static_cast<HttpServer*>(self)->forget(
        static_cast<Exchange*>(std::exchange(*closure, nullptr)));
  };
  const MHD_NotifyConnectionCallback notified = [](void* self, MHD_Connection* connection, void**,
                                                   MHD_ConnectionNotificationCode what) {
    auto& server = *static_cast<HttpServer*>(self);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) return server.connections_.ended(connection);
    server.connections_.began(connection, server.settings_.timers.now());
    server.look_at_connections_soon();
  };
  daemon_.reset(MHD_start_daemon(
      flags, settings_.port, nullptr, nullptr, handler, this, MHD_OPTION_URI_LOG_CALLBACK, +begun,
      this, MHD_OPTION_NOTIFY_COMPLETED, completed, this, MHD_OPTION_NOTIFY_CONNECTION, notified,
      this, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END));
  if (daemon_ == nullptr) {
    error_ = "cannot listen at " + settings_.host + ", port " + std::to_string(settings_.port) +
             ": " + std::strerror(errno);
  }
}

}  // namespace fleet
