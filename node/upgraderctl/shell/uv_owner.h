// libuv's handles have one owner each: close_and_free gives one back, and its memory is freed one
// turn of the loop later, when libuv has let go of it.
#pragma once

#include <uv.h>

namespace upgraderctl {

template <class Handle>
void close_and_free(Handle* handle) {
  if (handle == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}

}  // namespace upgraderctl
