// Time for code that uses a store: a clock that never goes back, and delayed calls. In programs it
// is libuv's clock (uv_timers.h), in tests a clock of their own (virtual_time.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace fleet {

// A delayed call. Destroying the timer cancels the call.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;
};

class Timers {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  virtual ~Timers() = default;

  // Returns the time since an unknown moment. The time never goes back.
  [[nodiscard]] virtual Milliseconds now() const = 0;

  // Calls `call` once, after `delay`. If the timer is destroyed before, does not call it. `call`
  // may destroy the timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Milliseconds delay,
                                                     std::function<void()> call) = 0;
};

}  // namespace fleet
