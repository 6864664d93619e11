// Classes that own a libuv handle. They call a function when a descriptor is ready, or when a time
// has come.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "base/uv_handle.h"
#include "tools/agentify/duration.h"

namespace agentify {

class Watch {
 public:
  // Calls `callback` whenever one of `events` is reported for the descriptor. Returns false if
  // libuv fails.
  [[nodiscard]] bool begin(uv_loop_t* loop, int descriptor, int events,
                           std::function<void()> callback) {
    end();
    callback_ = std::move(callback);
    handle_ = upgrader::make_handle(uv_poll_init, loop, this, descriptor);
    if (!handle_) return false;
    return look_for(events);
  }
  // Changes the events that are watched. With 0, no event is watched until the next call.
  bool look_for(int events) {
    return uv_poll_start(handle_.get(), events, [](uv_poll_t* handle, int, int) {
             static_cast<Watch*>(handle->data)->callback_();
           }) == 0;
  }
  // Ends the watch. Must be called before the descriptor is closed.
  void end() { handle_.reset(); }

 private:
  upgrader::UvHandle<uv_poll_t> handle_;
  std::function<void()> callback_;
};

class Timer {
 public:
  [[nodiscard]] bool begin(uv_loop_t* loop, std::function<void()> callback) {
    callback_ = std::move(callback);
    handle_ = upgrader::make_handle(uv_timer_init, loop, this);
    return handle_ != nullptr;
  }
  void set(Duration time) {
    const auto ms = static_cast<std::uint64_t>(time.count() < 0 ? 0 : time.count());
    uv_timer_start(
        handle_.get(), [](uv_timer_t* handle) { static_cast<Timer*>(handle->data)->callback_(); },
        ms, 0);
  }
  void stop() {
    if (handle_) uv_timer_stop(handle_.get());
  }
  void end() { handle_.reset(); }

 private:
  upgrader::UvHandle<uv_timer_t> handle_;
  std::function<void()> callback_;
};

}  // namespace agentify
