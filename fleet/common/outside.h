// Sends HTTP requests to servers outside of the fleet: receivers of webhooks, sources of releases,
// Prometheus, and daemons that report measures. Threads of libuv's pool send them, so a slow server
// does not block the event loop.
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

  // `program` is the name for the header User-Agent.
  Outside(uv_loop_t& loop, std::string program) : loop_(loop), program_(std::move(program)) {}
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  // Aborts all requests that are under way, and does not call their functions `then`.
  ~Outside() { *over_ = true; }

  // The limits for one answer. An answer that comes too late or is too long counts as a failure.
  struct Limits {
    long timeout_ms = 30'000;
    // The maximum size of a body: more than the index of thousands of releases needs.
    std::size_t bytes_max = 16'777'216;
  };

  void get(const std::string& url, Then then) { get(url, Limits{}, std::move(then)); }
  void get(const std::string& url, const Limits& limits, Then then) {
    ask(url, "", limits, std::move(then));
  }
  // Sends a POST request with the body `body`, which is JSON, and with these headers. Each header
  // has the form `NAME: VALUE`.
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
