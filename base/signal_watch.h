// Calls a function, from a libuv event loop, whenever one of the given signals comes.
#pragma once

#include <signal.h>
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

  // Begins to watch these signals. `callback` gets the number of the signal. SIGINT and SIGHUP stay
  // ignored if this process ignores them, as in the background of a script and under nohup(1).
  // Must be called at most once. Returns false if libuv fails.
  [[nodiscard]] bool begin(uv_loop_t* loop, std::initializer_list<int> signals,
                           std::function<void(int signal)> callback) {
    callback_ = std::move(callback);
    const auto on_signal = [](uv_signal_t* handle, int signal) {
      static_cast<SignalWatch*>(handle->data)->callback_(signal);
    };
    for (const int signal : signals) {
      if ((signal == SIGINT || signal == SIGHUP) && is_ignored(signal)) continue;
      handles_.push_back(make_handle(uv_signal_init, loop, this));
      uv_signal_t* const handle = handles_.back().get();
      if (handle == nullptr || uv_signal_start(handle, on_signal, signal) != 0) return false;
    }
    return true;
  }
  void end() { handles_.clear(); }

 private:
  static bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }

  std::function<void(int signal)> callback_;
  std::vector<UvHandle<uv_signal_t>> handles_;
};

}  // namespace upgrader
