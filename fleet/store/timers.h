// Defines an interface for time: a monotonic clock and delayed function calls. uv_timers.h
// implements it with libuv, and virtual_time.h with a simulated clock for tests. Also computes the
// pauses before repeated tries.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>

namespace fleet {

// A delayed function call. The destructor cancels the call.
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

  // Returns the time since some fixed moment. The time never decreases.
  [[nodiscard]] virtual Milliseconds now() const = 0;

  // Calls `call` once, after `delay`, unless the returned timer is destroyed before. `call` may
  // destroy the timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Milliseconds delay,
                                                     std::function<void()> call) = 0;
};

// Computes random pauses before repeated tries, so that clients that have lost the same member of
// the store do not all reconnect at once.
class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds first{250};
  // The limit for the pauses, unless the constructor gets a different one.
  static constexpr Milliseconds longest{30'000};

  // Each pause is random, from 0 to a limit. The limit is `least` at first, and doubles with each
  // pause, up to `most`. `seed` decides the random times.
  explicit Backoff(std::uint64_t seed, Milliseconds most = longest, Milliseconds least = first)
      : chance_(seed), most_(most), least_(least) {}

  [[nodiscard]] Milliseconds next() {
    const Milliseconds bound = std::min(bound_, most_);
    bound_ = std::min(bound_ * 2, most_);
    const auto range = static_cast<std::uint64_t>(bound.count()) + 1;
    return Milliseconds(static_cast<std::int64_t>(chance_() % range));
  }
  void reset() { bound_ = least_; }

 private:
  std::mt19937_64 chance_;
  Milliseconds most_;
  Milliseconds least_;
  Milliseconds bound_ = least_;
};

}  // namespace fleet
