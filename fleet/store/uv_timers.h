// Implements the interface Timers with libuv's event loop.
#pragma once

#include <uv.h>

#include "fleet/store/timers.h"

namespace fleet {

class UvTimers : public Timers {
 public:
  explicit UvTimers(uv_loop_t& loop) : loop_(loop) {}

  [[nodiscard]] Milliseconds now() const override;
  [[nodiscard]] std::unique_ptr<Timer> after(Milliseconds delay,
                                             std::function<void()> call) override;

 private:
  uv_loop_t& loop_;
};

}  // namespace fleet
