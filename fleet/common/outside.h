// Sends HTTP requests to servers outside the fleet: receivers of webhooks, sources of releases,
// Prometheus servers, and sources of measures. Each request runs in a thread of libuv's pool, so a
// slow server does not delay the event loop.
#pragma once

#include <uv.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

struct OutsideAnswer {
  long status = 0;  // the HTTP status of the answer; 0 if no answer came
  std::string body = {};
  std::string error = {};

  [[nodiscard]] bool is_good() const { return status >= 200 && status < 300; }
};

class Outside {
 public:
  using Then = std::function<void(const OutsideAnswer&)>;

  // `program` is the name that the header User-Agent contains.
  Outside(uv_loop_t& loop, std::string program) : loop_(loop), program_(std::move(program)) {}
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  // Stops all requests that are under way, without calling their callbacks `then`.
  ~Outside() { *over_ = true; }

  // The limits for one answer. An answer that comes later or is longer counts as a failure.
  struct Limits {
    long timeout_ms = 30'000;
    // The maximum number of bytes of a body. The index of a source with thousands of releases is
    // shorter.
    std::size_t bytes_max = 16'777'216;
  };

  void get(const std::string& url, Then then) { get(url, Limits{}, std::move(then)); }
  void get(const std::string& url, const Limits& limits, Then then) {
    ask(url, "", limits, std::move(then));
  }
  // Sends `body`, which is a JSON text, with the POST method and these headers. Each header has the
  // form `NAME: VALUE`.
  void post(const std::string& url, const std::string& body,
            const std::vector<std::string>& headers, Then then) {
    ask(url, body, Limits{}, std::move(then), headers);
  }

 private:
  void ask(const std::string& url, const std::string& body, const Limits& limits, Then then,
           const std::vector<std::string>& headers = {});

  uv_loop_t& loop_;
  std::string program_;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace fleet
