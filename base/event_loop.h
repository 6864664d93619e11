// An event loop of libuv with one owner.
#pragma once

#include <uv.h>

namespace upgrader {

class EventLoop {
 public:
  EventLoop() : error_(uv_loop_init(&loop_)) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  // Frees the loop. All its handles must have been closed. First runs the callbacks that free the
  // handles. uv_run() is repeated, since it returns at once after an uv_stop().
  ~EventLoop() {
    if (error_ != 0) return;
    while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
    }
    uv_loop_close(&loop_);
  }

  // Returns the error of libuv if the loop could not be made, otherwise 0. After an error, get()
  // must not be called.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] uv_loop_t* get() { return &loop_; }

 private:
  uv_loop_t loop_{};
  int error_;
};

}  // namespace upgrader
