#include "fleet/http/server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "fleet/http/peer.h"
#include "upgrader/core/check.h"

namespace fleet {
namespace {

// A browser or a scraper has a few; more than this is no page that somebody looks at.
constexpr unsigned int connections_max = 200;
// Of a connection on which nobody says anything.
constexpr unsigned int idle_seconds = 60;
// A client that reads more slowly than the cell changes begins anew.
constexpr std::size_t unread_bytes_max = 4'194'304;
constexpr std::size_t chunk_bytes = 16'384;

struct FreeResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using ResponseOf = std::unique_ptr<MHD_Response, FreeResponse>;

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

MHD_Result take_argument(void* query, MHD_ValueKind, const char* name, const char* value) {
  (*static_cast<std::map<std::string, std::string>*>(query))[name] = value == nullptr ? "" : value;
  return MHD_YES;
}

// The page takes nothing from elsewhere, and nobody keeps what was answered.
void add_headers(MHD_Response* response, const std::string& type) {
  if (!type.empty()) MHD_add_response_header(response, "Content-Type", type.c_str());
  MHD_add_response_header(response, "Cache-Control", "no-cache");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy",
                          "default-src 'self'; img-src data:; frame-ancestors 'none'");
}

// Numbers and `localhost`: a server listens where it was told, and asks nobody where that is.
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

struct HttpServer::Exchange {
  HttpServer* owner = nullptr;
  Number number = 0;
  MHD_Connection* connection = nullptr;
  Request request = {};
  std::optional<Response> response = {};
  bool asked = false;
  bool suspended = false;
  bool streams = false;
  bool ended = false;
  std::string outgoing = {};
};

HttpServer::HttpServer(Settings settings) : settings_(std::move(settings)) {
  listen();
  if (daemon_ == nullptr) return;
  const auto* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD);
  UPGRADER_CHECK(info != nullptr);
  poll_ = upgrader::make_handle<uv_poll_t>(
      [&](uv_poll_t* fresh) { return uv_poll_init(&settings_.loop, fresh, info->epoll_fd); });
  UPGRADER_CHECK(poll_ != nullptr);
  poll_->data = this;
  const auto ready = [](uv_poll_t* which, int, int) {
    static_cast<HttpServer*>(which->data)->run();
  };
  UPGRADER_CHECK(uv_poll_start(poll_.get(), UV_READABLE, ready) == 0);
}

// libmicrohttpd wants every connection back before it ends.
HttpServer::~HttpServer() {
  poll_ = nullptr;
  timer_ = nullptr;
  for (const auto& [number, exchange] : exchanges_) {
    exchange->ended = true;
    wake(*exchange);
  }
  timer_ = nullptr;
  daemon_ = nullptr;
}

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
  daemon_.reset(MHD_start_daemon(flags, settings_.port, nullptr, nullptr, handler, this,
                                 MHD_OPTION_NOTIFY_COMPLETED, completed, this, MHD_OPTION_ARRAY,
                                 options.data(), MHD_OPTION_END));
  if (daemon_ == nullptr) {
    error_ = "cannot listen at " + settings_.host + ", port " + std::to_string(settings_.port) +
             ": " + std::strerror(errno);
  }
}

void HttpServer::run() {
  MHD_run(daemon_.get());
  MHD_UNSIGNED_LONG_LONG timeout = 0;
  timer_ = nullptr;
  if (MHD_get_timeout(daemon_.get(), &timeout) != MHD_YES) return;
  timer_ = settings_.timers.after(std::chrono::milliseconds(timeout), [this] { run(); });
}

void HttpServer::run_soon() {
  timer_ = settings_.timers.after(std::chrono::milliseconds(0), [this] { run(); });
}

// Called when the head has come, for each part of the body, behind the body, and when a suspended
// exchange goes on.
MHD_Result HttpServer::take(MHD_Connection* connection, const char* url, const char* method,
                            const char* data, std::size_t* size, void** closure) {
  if (*closure == nullptr) {
    const Number number = next_++;
    auto& fresh = exchanges_[number] = std::make_unique<Exchange>();
    *fresh = {.owner = this, .number = number, .connection = connection};
    *closure = fresh.get();
    return MHD_YES;
  }
  Exchange& exchange = *static_cast<Exchange*>(*closure);
  Request& request = exchange.request;
  if (*size > 0) {
    request.too_long = request.too_long || request.body.size() + *size > request_bytes_max;
    if (!request.too_long) request.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (!std::exchange(exchange.asked, true)) {
    request.method = method_of(method);
    request.path = url;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &request.query);
    request.host = header(connection, "Host");
    request.if_match = header(connection, "If-Match");
    request.if_none_match = header(connection, "If-None-Match");
    if (!settings_.certificates.own.empty()) {
      const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
      auto* session = static_cast<gnutls_session_t>(info->tls_session);
      request.name = name_of_peer(session, settings_.certificates.authority,
                                  settings_.certificates.revocations);
    }
    settings_.asked(exchange.number, request);
  }
  if (exchange.response || exchange.streams) return send(connection, exchange);
  exchange.suspended = true;
  MHD_suspend_connection(connection);
  return MHD_YES;
}

MHD_Result HttpServer::send(MHD_Connection* connection, Exchange& exchange) {
  ResponseOf response;
  unsigned int status = MHD_HTTP_OK;
  if (exchange.streams) {
    const auto reader = [](void* which, std::uint64_t, char* buffer, std::size_t size) {
      auto& of = *static_cast<Exchange*>(which);
      return static_cast<ssize_t>(of.owner->read(of, buffer, size));
    };
    response.reset(MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, chunk_bytes, reader,
                                                     &exchange, nullptr));
    add_headers(response.get(), "text/event-stream");
  } else {
    Response& answer = *exchange.response;
    status = static_cast<unsigned int>(answer.status);
    response.reset(MHD_create_response_from_buffer(answer.body.size(), answer.body.data(),
                                                   MHD_RESPMEM_MUST_COPY));
    add_headers(response.get(), answer.type);
    if (!answer.etag.empty()) {
      MHD_add_response_header(response.get(), "ETag", answer.etag.c_str());
    }
    for (const auto& [name, value] : answer.headers) {
      MHD_add_response_header(response.get(), name.c_str(), value.c_str());
    }
  }
  return MHD_queue_response(connection, status, response.get());
}

std::ptrdiff_t HttpServer::read(Exchange& exchange, char* buffer, std::size_t size) {
  if (exchange.ended) return MHD_CONTENT_READER_END_OF_STREAM;
  if (exchange.outgoing.empty()) {
    exchange.suspended = true;
    MHD_suspend_connection(exchange.connection);
    return 0;
  }
  const std::size_t part = std::min(size, exchange.outgoing.size());
  std::memcpy(buffer, exchange.outgoing.data(), part);
  exchange.outgoing.erase(0, part);
  return static_cast<std::ptrdiff_t>(part);
}

void HttpServer::answer(Number number, Response response) {
  const auto at = exchanges_.find(number);
  if (at == exchanges_.end()) return;
  at->second->response = std::move(response);
  wake(*at->second);
}

void HttpServer::stream(Number number) {
  const auto at = exchanges_.find(number);
  if (at == exchanges_.end()) return;
  at->second->streams = true;
  wake(*at->second);
}

bool HttpServer::push(Number number, const std::string& text) {
  const auto at = exchanges_.find(number);
  if (at == exchanges_.end()) return false;
  Exchange& exchange = *at->second;
  exchange.ended = exchange.ended || exchange.outgoing.size() + text.size() > unread_bytes_max;
  if (!exchange.ended) exchange.outgoing += text;
  wake(exchange);
  return !exchange.ended;
}

void HttpServer::wake(Exchange& exchange) {
  if (!std::exchange(exchange.suspended, false)) return;
  MHD_resume_connection(exchange.connection);
  run_soon();
}

void HttpServer::forget(Exchange* exchange) {
  if (exchange == nullptr) return;
  const bool streams = exchange->streams;
  const Number number = exchange->number;
  exchanges_.erase(number);
  if (streams) settings_.stream_ended(number);
}

}  // namespace fleet
