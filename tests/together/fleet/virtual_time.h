// A clock that stands still until a test moves it. Calls are made in the order of their times. Of
// two calls at the same time, the one that was requested first is made first.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "fleet/store/timers.h"

namespace fleet {

class VirtualTime : public Timers {
 public:
  [[nodiscard]] Milliseconds now() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Timer> after(Milliseconds delay,
                                             std::function<void()> call) override;
  // Calls `call` after the delay, like after(), but returns no timer that the caller would have to
  // keep.
  void post(Milliseconds delay, std::function<void()> call);

  // Makes the next call, and moves the clock to its time. Returns false if there is none.
  bool run_next();
  // Makes the next call like run_next(), but moves the clock no further than `limit`.
  bool run_next_until(Milliseconds limit);

 private:
  using Place = std::pair<Milliseconds, std::uint64_t>;
  class Taken;

  Place enter(Milliseconds delay, std::function<void()> call);

  Milliseconds now_{0};
  std::uint64_t order_ = 0;
  std::map<Place, std::function<void()>> calls_;
  // Expires with the clock: a timer that outlives the clock notices that.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
