// A libuv loop for tests that wait for a condition. A timer wakes the loop every two milliseconds,
// so that a wait ends at its time limit even if no other event wakes the loop.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>

#include "fleet/store/uv_timers.h"

namespace fleet::test {

// A libuv loop with its timer. A TurningLoop must be declared before all objects that use it, so
// that those objects are destroyed first.
class TurningLoop {
 public:
  TurningLoop() {
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &tick_);
    uv_timer_start(
        &tick_, [](uv_timer_t*) {}, tick_ms, tick_ms);
  }
  TurningLoop(const TurningLoop&) = delete;
  TurningLoop& operator=(const TurningLoop&) = delete;
  ~TurningLoop() {
    uv_close(reinterpret_cast<uv_handle_t*>(&tick_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }

  [[nodiscard]] uv_loop_t& loop() { return loop_; }
  [[nodiscard]] Timers& timers() { return timers_; }
  void turn() { uv_run(&loop_, UV_RUN_ONCE); }

  // Runs the loop until the condition holds. Returns false if the condition does not hold before
  // the time limit.
  template <class Condition>
  [[nodiscard]] bool wait(const Condition& condition, std::chrono::milliseconds limit) {
    const auto end = timers_.now() + limit;
    while (!condition()) {
      if (timers_.now() > end) return false;
      turn();
    }
    return true;
  }

 private:
  static constexpr std::uint64_t tick_ms = 2;  // how often the timer wakes the loop

  uv_loop_t loop_{};
  uv_timer_t tick_{};
  UvTimers timers_{loop_};
};

}  // namespace fleet::test
