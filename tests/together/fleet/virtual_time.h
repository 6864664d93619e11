// A clock that only a test moves, with timers. Timers run in the order of their times. Of two
// timers with the same time, the one that was started first runs first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "fleet/store/timers.h"

namespace fleet {

class VirtualTime : public Timers {
 public:
  [[nodiscard]] Milliseconds now() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Timer> after(Milliseconds delay,
                                             std::function<void()> call) override {
    return std::make_unique<Taken>(*this, enter(delay, std::move(call)));
  }
  // Starts a timer like after(), but returns no object, so the timer cannot be stopped.
  void post(Milliseconds delay, std::function<void()> call) { enter(delay, std::move(call)); }

  // Runs the next timer, and moves the clock to its time. Returns false if there is no timer.
  bool run_next() { return run_next_until(Milliseconds::max()); }
  // Runs the next timer like run_next(), but only if its time is not after `limit`. Otherwise
  // leaves the clock unchanged, and returns false.
  bool run_next_until(Milliseconds limit) {
    if (calls_.empty() || calls_.begin()->first.first > limit) return false;
    auto first = calls_.extract(calls_.begin());
    now_ = first.key().first;
    first.mapped()();
    return true;
  }

 private:
  using Place = std::pair<Milliseconds, std::uint64_t>;
  class Taken : public Timer {
   public:
    Taken(VirtualTime& clock, Place place) : clock_(clock), place_(place), alive_(clock.alive_) {}
    ~Taken() override {
      if (!alive_.expired()) clock_.calls_.erase(place_);
    }

   private:
    VirtualTime& clock_;
    Place place_;
    std::weak_ptr<char> alive_;
  };

  Place enter(Milliseconds delay, std::function<void()> call) {
    const Place place{now_ + delay, order_++};
    calls_.emplace(place, std::move(call));
    return place;
  }

  Milliseconds now_{0};
  std::uint64_t order_ = 0;
  std::map<Place, std::function<void()>> calls_;
  // Each timer has a weak pointer to this object. A timer that lives longer than the clock can thus
  // see that the clock was destroyed.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
