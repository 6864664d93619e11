#include "fleet/http/server.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "fleet/http/peer.h"

namespace fleet {
namespace {

constexpr std::chrono::milliseconds look_time{1'000};
constexpr std::size_t chunk_bytes = 16'384;

struct FreeResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using ResponseOf = std::unique_ptr<MHD_Response, FreeResponse>;

// Moves the body into the response that it returns: a copy of the largest bodies would need much
// memory.
ResponseOf response_with(std::string body) {
  auto kept = std::make_unique<std::string>(std::move(body));
  const auto release = [](void* which) {
    const std::unique_ptr<std::string> owned(static_cast<std::string*>(which));
  };
  ResponseOf response(MHD_create_response_from_buffer_with_free_callback_cls(
      kept->size(), kept->data(), release, kept.get()));
  if (response != nullptr) static_cast<void>(kept.release());
  return response;
}

// Returns the client's address as text.
std::string address_of_client(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  std::array<char, NI_MAXHOST> text{};
  if (info == nullptr || info->client_addr == nullptr ||
      getnameinfo(info->client_addr, sizeof(sockaddr_in6), text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "an unknown address";
  return text.data();
}

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

MHD_Result take_argument(void* query, MHD_ValueKind, const char* name, const char* value) {
  (*static_cast<std::map<std::string, std::string>*>(query))[name] = value == nullptr ? "" : value;
  return MHD_YES;
}

// Allows the browser to load scripts, styles and data only from this server, and images only from
// `data:` URLs (for the page's empty icon). Forbids other pages to show this page in a frame.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Adds the headers of every response. The browser must load the page's parts only from this server,
// and ask before it uses a cached response. Pages of other sites must not show or read a response.
void add_headers(MHD_Response* response, const std::string& type) {
  if (!type.empty()) MHD_add_response_header(response, "Content-Type", type.c_str());
  MHD_add_response_header(response, "Cache-Control", "no-cache");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy", content_policy);
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
  MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace

struct HttpServer::Exchange {
  HttpServer* owner = nullptr;
  Number number = 0;
  MHD_Connection* connection = nullptr;
  Request request = {};
  std::optional<Response> response = {};
  bool has_headers = false;  // whether all headers of the request have arrived
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
  poll_ = upgrader::make_handle(uv_poll_init, &settings_.loop, this, info->epoll_fd);
  UPGRADER_CHECK(poll_ != nullptr);
  const auto ready = [](uv_poll_t* which, int, int) {
    static_cast<HttpServer*>(which->data)->run();
  };
  UPGRADER_CHECK(uv_poll_start(poll_.get(), UV_READABLE, ready) == 0);
}

// libmicrohttpd requires that all suspended connections are resumed before it is stopped.
HttpServer::~HttpServer() {
  poll_ = nullptr;
  timer_ = nullptr;
  look_ = nullptr;
  for (const auto& [number, exchange] : exchanges_) {
    exchange->ended = true;
    wake(*exchange);
  }
  timer_ = nullptr;
  daemon_ = nullptr;
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

// Begins a request, before libmicrohttpd parses the URL. take() gets the result as `*closure`. Cuts
// off a long list of parameters: libmicrohttpd 0.9.75 never answers if they need more memory than a
// connection has.
void* HttpServer::begin(MHD_Connection* connection, char* url) {
  const Number number = next_++;
  auto& fresh = exchanges_[number] = std::make_unique<Exchange>();
  *fresh = {.owner = this, .number = number, .connection = connection};
  const std::string_view whole = url;
  const std::size_t kept = kept_bytes(whole);
  fresh->request.url_too_long = kept < whole.size();
  url[kept] = '\0';
  return fresh.get();
}

// Handles a request. libmicrohttpd calls this when the headers have arrived, for each part of the
// body, after the body, and when the suspended connection is resumed.
MHD_Result HttpServer::take(MHD_Connection* connection, const char* url, const char* method,
                            const char* data, std::size_t* size, void** closure) {
  Exchange& exchange = *static_cast<Exchange*>(*closure);
  if (!std::exchange(exchange.has_headers, true)) return MHD_YES;
  Request& request = exchange.request;
  if (*size > 0) {
    request.too_long = request.too_long || request.body.size() + *size > request_bytes_max;
    if (!request.too_long) request.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (!std::exchange(exchange.asked, true)) {
    connections_.asked(connection, settings_.timers.now());
    request.method = value_of<Method>(method);
    request.path = url;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &request.query);
    request.host = header(connection, "Host");
    request.from = address_of_client(connection);
    request.if_match = header(connection, "If-Match");
    request.if_none_match = header(connection, "If-None-Match");
    request.origin = header(connection, "Origin");
    request.fetch_site = header(connection, "Sec-Fetch-Site");
    if (!settings_.certificates.own.empty()) {
      const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
      auto* session = static_cast<gnutls_session_t>(info->tls_session);
      const auto visitor =
          visitor_of(session, settings_.certificates.authority, settings_.revocations());
      if (visitor) request.visitor = visitor.value();
      if (!visitor) request.why_no_visitor = visitor.reason();
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
    response = response_with(std::move(answer.body));
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
  unread_ -= part;
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
  connections_.streams(at->second->connection);
  wake(*at->second);
}

bool HttpServer::push(Number number, const std::string& text) {
  const auto at = exchanges_.find(number);
  if (at == exchanges_.end()) return false;
  Exchange& exchange = *at->second;
  if (exchange.ended) return false;
  exchange.outgoing += text;
  unread_ += text.size();
  wake(exchange);
  if (exchange.outgoing.size() > unread_bytes_max) let_go(exchange);
  while (unread_ > unread_total_max) {
    let_go(*std::max_element(exchanges_.begin(), exchanges_.end(),
                             [](const auto& one, const auto& other) {
                               return one.second->outgoing.size() < other.second->outgoing.size();
                             })
                ->second);
  }
  return !exchange.ended;
}

// Ends the stream of a client that has gone or reads too slowly: drops the unread text, and closes
// the connection.
void HttpServer::let_go(Exchange& exchange) {
  exchange.ended = true;
  unread_ -= exchange.outgoing.size();
  exchange.outgoing = {};
  shut(exchange.connection);
  wake(exchange);
}

void HttpServer::look_at_connections() {
  connections_.shut_late(settings_.timers.now());
  for (const auto& [number, exchange] : exchanges_) {
    if (exchange->streams && exchange->suspended && has_client_gone(exchange->connection)) {
      let_go(*exchange);
    }
  }
  look_ = nullptr;
  if (!connections_.are_none()) look_at_connections_soon();
}

void HttpServer::look_at_connections_soon() {
  if (look_ != nullptr) return;
  look_ = settings_.timers.after(look_time, [this] { look_at_connections(); });
}

void HttpServer::end_stream(Number number) {
  const auto at = exchanges_.find(number);
  if (at == exchanges_.end()) return;
  Exchange& exchange = *at->second;
  exchange.ended = true;
  unread_ -= exchange.outgoing.size();
  exchange.outgoing = {};
  wake(exchange);
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
  unread_ -= exchange->outgoing.size();
  connections_.answered(exchange->connection, settings_.timers.now());
  exchanges_.erase(number);
  if (streams) settings_.stream_ended(number);
}

}  // namespace fleet
