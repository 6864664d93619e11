// Connects libmicrohttpd with a libuv loop: parses requests, sends responses, keeps streams open.
// Decides nothing.
#pragma once

#include <microhttpd.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/uv_handle.h"
#include "fleet/http/message.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

// How long a client may take to send a complete request, since it connected or got its last answer.
inline constexpr std::chrono::seconds request_time{30};
// How long an answer may take, from the complete request to the last byte: enough for the largest
// answer over a slow network.
inline constexpr std::chrono::seconds answer_time{300};

// The open connections of a server, with a time limit for the current request or answer of each.
// Otherwise a client that never ends its headers, or never reads the answer, would occupy a
// connection for ever.
class Connections {
 public:
  using Time = std::chrono::milliseconds;

  void began(MHD_Connection* connection, Time now);
  void ended(MHD_Connection* connection) { lines_.erase(connection); }
  // Records that the client has sent a complete request.
  void asked(MHD_Connection* connection, Time now);
  // Records that the answer is a stream. A stream has no time limit.
  void streams(MHD_Connection* connection);
  // Records that the whole answer was sent. The client may now send the next request.
  void answered(MHD_Connection* connection, Time now);

  // Shuts down the sockets of connections that are over their time limit. libmicrohttpd then closes
  // them.
  void shut_late(Time now) const;
  [[nodiscard]] bool are_none() const { return lines_.empty(); }

 private:
  enum class Phase { asks, is_answered, streams };
  struct Line {
    Phase phase = Phase::asks;
    Time since{0};
  };

  void note(MHD_Connection* connection, const Line& line);

  std::map<MHD_Connection*, Line> lines_;
};

// Shuts down the connection's socket. libmicrohttpd then closes the connection.
void shut(MHD_Connection* connection);
// Returns whether the client has closed the connection. libmicrohttpd does not notice this while a
// connection is suspended.
[[nodiscard]] bool has_client_gone(MHD_Connection* connection);

// The maximum number of connections. Browsers and Prometheus need only a few each, so this is
// enough for all people who look at one cell.
inline constexpr std::size_t connections_max = 200;
// The maximum number of connections from one address, so that a single machine cannot use up all
// connections.
inline constexpr std::size_t connections_of_address_max = 60;
// The maximum number of unread bytes in one client's stream. If a client reads more slowly than the
// cell changes, the server closes the stream, and the client has to connect again.
inline constexpr std::size_t unread_bytes_max = 4'194'304;
// The maximum number of unread bytes in all streams together. If there are more, the server closes
// the streams with the most unread bytes.
inline constexpr std::size_t unread_total_max = 33'554'432;

// The server's certificate and key, and the authority of its clients' certificates, in PEM. If
// `own` is empty, the server does not use TLS.
struct ServerCertificates {
  std::string own = {};
  std::string key = {};
  // The certificate of the authority that signs the certificates of clients.
  std::string authority = {};
};

class HttpServer {
 public:
  using Number = std::uint64_t;  // identifies an open request or a stream

  struct Settings {
    uv_loop_t& loop;
    Timers& timers;
    std::string host;
    std::uint16_t port = 0;
    ServerCertificates certificates = {};
    // Called for each complete request. The owner must then call answer() or stream() once,
    // immediately or later.
    std::function<void(Number, const Request&)> asked;
    std::function<void(Number)> stream_ended = [](Number) {};
    // Returns the list of revoked certificates in PEM, or an empty string if there is no list.
    std::function<std::string()> revocations = [] { return std::string(); };
  };

  explicit HttpServer(Settings settings);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Returns why the server is not listening, or an empty string if it is.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint16_t port() const;

  // Sends the response to a request. Does nothing if the client has gone.
  void answer(Number number, Response response);
  // Answers the request with a stream, to which push() adds texts. The stream ends within about a
  // second after the client has closed the connection.
  void stream(Number number);
  // Adds a text to a stream. Returns false if the stream has ended, for example because the client
  // reads too slowly.
  bool push(Number number, const std::string& text);
  // Ends the stream immediately. The text that the client has not read yet is dropped.
  void end_stream(Number number);

 private:
  struct Exchange;
  struct StopDaemon {
    void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
  };

  void listen();
  void run();
  void run_soon();
  void* begin(MHD_Connection* connection, char* url);
  MHD_Result take(MHD_Connection* connection, const char* url, const char* method, const char* data,
                  std::size_t* size, void** closure);
  MHD_Result send(MHD_Connection* connection, Exchange& exchange);
  std::ptrdiff_t read(Exchange& exchange, char* buffer, std::size_t size);
  void forget(Exchange* exchange);
  void wake(Exchange& exchange);
  void let_go(Exchange& exchange);
  void look_at_connections_soon();
  void look_at_connections();

  Settings settings_;
  std::string error_;
  std::map<Number, std::unique_ptr<Exchange>> exchanges_;
  Number next_ = 1;
  std::size_t unread_ = 0;  // unread bytes of all streams together
  Connections connections_;
  upgrader::UvHandle<uv_poll_t> poll_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Timer> look_;
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon_;
};

}  // namespace fleet
