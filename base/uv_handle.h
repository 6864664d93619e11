// A libuv handle with one owner. The destructor makes libuv close the handle. The handle's memory
// is freed when libuv has closed it, in the next iteration of the event loop.
#pragma once

#include <uv.h>

#include <cerrno>
#include <memory>
#include <type_traits>

namespace upgrader {

template <class Handle>
struct UvClose {
  void operator()(Handle* handle) const {
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
  }
};

// Owns a handle that libuv has initialized. A handle whose initialization has failed must not be
// closed; make_handle() frees its memory directly.
template <class Handle>
using UvHandle = std::unique_ptr<Handle, UvClose<Handle>>;

// Makes a handle with a libuv function such as uv_poll_init(). `more` are the arguments of that
// function after the loop and the handle. `data` is stored in the handle, for its callbacks. If the
// function returns a libuv error instead of 0, returns an empty pointer and sets errno.
template <class Handle, class... More>
[[nodiscard]] UvHandle<Handle> make_handle(int (*initialise)(uv_loop_t*, Handle*, More...),
                                           uv_loop_t* loop, void* data,
                                           std::type_identity_t<More>... more) {
  auto fresh = std::make_unique<Handle>();
  fresh->data = data;
  const int error = initialise(loop, fresh.get(), more...);
  if (error == 0) return UvHandle<Handle>(fresh.release());
  fresh.reset();
  errno = -error;
  return nullptr;
}

}  // namespace upgrader
