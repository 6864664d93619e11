// Time for what stands on a store: a monotonic clock, and calls later. Real programs have libuv's
// (uv_timers.h), tests one of their own (virtual_time.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace fleet {

// Its destruction takes the call back.
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

  // Since some moment in the past; never goes back.
  [[nodiscard]] virtual Milliseconds now() const = 0;

  // Once, unless the timer is destroyed before. `call` may destroy its own timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Milliseconds delay,
                                                     std::function<void()> call) = 0;
};

}  // namespace fleet
