// Asks servers outside the fleet by HTTP: webhooks and sources of releases. Each question runs on a
// thread of libuv's pool, so that a slow server holds up nobody.
#pragma once

#include <uv.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace fleet {

struct OutsideAnswer {
  long status = 0;  // 0 if there is no answer
  std::string body = {};
  std::string error = {};

  [[nodiscard]] bool is_good() const { return status >= 200 && status < 300; }
};

class Outside {
 public:
  using Then = std::function<void(const OutsideAnswer&)>;

  explicit Outside(uv_loop_t& loop) : loop_(loop) {}
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  // Breaks off the questions under way; their `then` is not called.
  ~Outside() { *over_ = true; }

  void get(const std::string& url, Then then) { ask(url, "", std::move(then)); }
  // Sends `body`, which is JSON.
  void post(const std::string& url, const std::string& body, Then then) {
    ask(url, body, std::move(then));
  }

 private:
  void ask(const std::string& url, const std::string& body, Then then);

  uv_loop_t& loop_;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace fleet
