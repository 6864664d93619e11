#include "fleet/store/uv_timers.h"

#include <utility>

#include "base/check.h"
#include "base/uv_handle.h"

namespace fleet {
namespace {

class UvTimer : public Timer {
 public:
  UvTimer(uv_loop_t& loop, Timers::Milliseconds delay, std::function<void()> call)
      : call_(std::move(call)), handle_(upgrader::make_handle(uv_timer_init, &loop, this)) {
    UPGRADER_CHECK(handle_ != nullptr);
    const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(delay.count(), 0));
    UPGRADER_CHECK(uv_timer_start(handle_.get(), &UvTimer::is_up, ms, 0) == 0);
  }

 private:
  static void is_up(uv_timer_t* handle) {
    // Copy the function, since the call may destroy the timer and the original function.
    const auto call = static_cast<UvTimer*>(handle->data)->call_;
    call();
  }

  std::function<void()> call_;
  upgrader::UvHandle<uv_timer_t> handle_;
};

}  // namespace

UvTimers::Milliseconds UvTimers::now() const {
  return Milliseconds(static_cast<std::int64_t>(uv_now(&loop_)));
}

std::unique_ptr<Timer> UvTimers::after(Milliseconds delay, std::function<void()> call) {
  // Without this, libuv would count the delay from the start of this turn of the event loop.
  uv_update_time(&loop_);
  return std::make_unique<UvTimer>(loop_, delay, std::move(call));
}

}  // namespace fleet
