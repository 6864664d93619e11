// The thin shell around libmicrohttpd, on a libuv loop: takes requests apart, sends what is
// answered, and keeps streams open. Decides nothing.
#pragma once

#include <microhttpd.h>
#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/uv_handle.h"
#include "fleet/http/connections.h"
#include "fleet/http/message.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

// A browser or a scraper has a few; more than this is no page that somebody looks at.
inline constexpr std::size_t connections_max = 200;
// One machine alone does not shut out the others.
inline constexpr std::size_t connections_of_address_max = 60;
// Of one client: who reads more slowly than the cell changes begins anew.
inline constexpr std::size_t unread_bytes_max = 4'194'304;
// Of all: those who are furthest behind begin anew.
inline constexpr std::size_t unread_total_max = 33'554'432;

// PEM; empty: no TLS.
struct ServerCertificates {
  std::string own = {};
  std::string key = {};
  std::string authority = {};  // whom clients are signed by
};

class HttpServer {
 public:
  using Number = std::uint64_t;  // of a request that is not answered yet, or of a stream

  struct Settings {
    uv_loop_t& loop;
    Timers& timers;
    std::string host;
    std::uint16_t port = 0;
    ServerCertificates certificates = {};
    // Answered by answer() or stream(), once, now or later.
    std::function<void(Number, const Request&)> asked;
    std::function<void(Number)> stream_ended = [](Number) {};
    // PEM, of certificates that are no good any longer; empty: there is no list.
    std::function<std::string()> revocations = [] { return std::string(); };
  };

  explicit HttpServer(Settings settings);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // An empty text if it listens.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint16_t port() const;

  // The client may have gone: then nothing happens.
  void answer(Number number, Response response);
  // The request becomes a stream of what push() adds, until the client goes, which is noticed
  // within a second.
  void stream(Number number);
  // False: the client is so far behind that it was let go.
  bool push(Number number, const std::string& text);
  // At once: what the client has not read yet is dropped.
  void end_stream(Number number);

 private:
  struct Exchange;
  struct StopDaemon {
    void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
  };

  void listen();
  void run();
  void run_soon();
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
  std::size_t unread_ = 0;  // bytes of all streams
  Connections connections_;
  upgrader::UvHandle<uv_poll_t> poll_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Timer> look_;
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon_;
};

}  // namespace fleet
