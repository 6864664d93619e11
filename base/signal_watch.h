// Calls a function, from a libuv event loop, whenever one of the given signals comes.
#pragma once

#include <uv.h>

#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/uv_handle.h"

namespace upgrader {

class SignalWatch {
 public:
  SignalWatch() = default;
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Begins to watch these signals. `callback` gets the number of the signal. Must be called at most
  // once. Returns false if libuv fails.
  [[nodiscard]] bool begin(uv_loop_t* loop, std::initializer_list<int> signals,
                           std::function<void(int signal)> callback) {
    callback_ = std::move(callback);
    const auto on_signal = [](uv_signal_t* handle, int signal) {
      static_cast<SignalWatch*>(handle->data)->callback_(signal);
    };
    for (const int signal : signals) {
      handles_.push_back(make_handle(uv_signal_init, loop, this));
      uv_signal_t* const handle = handles_.back().get();
      if (handle == nullptr || uv_signal_start(handle, on_signal, signal) != 0) return false;
    }
    return true;
  }
  void end() { handles_.clear(); }

 private:
  std::function<void(int signal)> callback_;
  std::vector<UvHandle<uv_signal_t>> handles_;
};

}  // namespace upgrader
