// Defines the interface through which code that uses the store deals with time: a monotonic clock,
// delayed function calls, and the pauses before repeated tries. Programs use libuv's clock
// (uv_timers.h). Tests use a simulated clock (virtual_time.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>

namespace fleet {

// A delayed function call, which is cancelled if this object is destroyed.
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

  // Calls `call` once, after `delay`, unless the timer is destroyed before. `call` may destroy the
  // timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Milliseconds delay,
                                                     std::function<void()> call) = 0;
};

// Computes the pauses before repeated tries. Each pause is a random time below a limit, and the
// limit doubles with each try. Since the times are random, clients that have lost the same member
// of the store do not all reconnect at once. The seed decides the random times.
class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds first{250};
  // The longest possible pause, unless the owner gives a different limit.
  static constexpr Milliseconds longest{30'000};

  // Each pause is a random time from 0 to a limit. The limit is `least` for the first pause, then
  // doubles with each pause, and is never above `most`.
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
