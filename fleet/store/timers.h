// The interface for time in code that uses the store: a clock that never goes back, and delayed
// function calls. Programs use libuv's clock (uv_timers.h). Tests use a simulated clock
// (virtual_time.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace fleet {

// A delayed function call. Destroying this object cancels the call.
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

  // Returns the time since some fixed moment. The result never decreases.
  [[nodiscard]] virtual Milliseconds now() const = 0;

  // Calls `call` once, after `delay`, unless the timer is destroyed before. `call` may destroy the
  // timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Milliseconds delay,
                                                     std::function<void()> call) = 0;
};

}  // namespace fleet
