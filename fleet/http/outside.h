// Asks servers that are none of ours, by HTTP: webhooks and sources of releases. Each question is
// on a thread of libuv's, so that however slow it is nobody waits for it.
#pragma once

#include <uv.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace fleet {

struct OutsideAnswer {
  long status = 0;  // 0 if there is none
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
  // Questions under way are broken off; what they were asked for is not told.
  ~Outside() { *over_ = true; }

  void get(const std::string& url, Then then) { ask(url, "", std::move(then)); }
  // JSON.
  void post(const std::string& url, const std::string& body, Then then) {
    ask(url, body, std::move(then));
  }

 private:
  void ask(const std::string& url, const std::string& body, Then then);

  uv_loop_t& loop_;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace fleet
