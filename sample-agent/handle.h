// Classes that own a libuv handle. libuv uses a closed handle until it calls the close callback, so
// that callback frees the memory.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sample_agent {

struct CloseHandle {
  template <class Handle>
  void operator()(Handle* handle) const {
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
  }
};

// Calls a function after some time, once or repeatedly.
class Timer {
 public:
  Timer(uv_loop_t& loop, std::function<void()> callback);

  // Starts the timer, unless it is running already.
  void start(std::uint64_t after_ms, std::uint64_t repeat_ms = 0);
  [[nodiscard]] bool is_running() const;

 private:
  std::unique_ptr<std::function<void()>> callback_;
  std::unique_ptr<uv_timer_t, CloseHandle> handle_;
};

// Calls a function when the file `name` in a directory changes, or any file if `name` is empty. If
// the system cannot watch files, the function is never called, so the caller also needs a slow
// timer.
class DirectoryWatch {
 public:
  DirectoryWatch(uv_loop_t& loop, const std::string& directory, std::string name,
                 std::function<void()> callback);

 private:
  struct Content {
    std::string name;
    std::function<void()> callback;
  };
  std::unique_ptr<Content> content_;
  std::unique_ptr<uv_fs_event_t, CloseHandle> handle_;
};

// Calls a function when the process gets a signal, instead of the signal's default action.
class SignalWatch {
 public:
  SignalWatch(uv_loop_t& loop, int signal, std::function<void()> callback);

 private:
  std::unique_ptr<std::function<void()>> callback_;
  std::unique_ptr<uv_signal_t, CloseHandle> handle_;
};

// Calls a function while a descriptor is readable.
class Readable {
 public:
  Readable(uv_loop_t& loop, int descriptor, std::function<void()> callback);

 private:
  std::unique_ptr<std::function<void()>> callback_;
  std::unique_ptr<uv_poll_t, CloseHandle> handle_;
};

}  // namespace sample_agent
