#include "tests/together/fleet/virtual_time.h"

namespace fleet {

class VirtualTime::Taken : public Timer {
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

VirtualTime::Place VirtualTime::enter(Milliseconds delay, std::function<void()> call) {
  const Place place{now_ + delay, order_++};
  calls_.emplace(place, std::move(call));
  return place;
}

std::unique_ptr<Timer> VirtualTime::after(Milliseconds delay, std::function<void()> call) {
  return std::make_unique<Taken>(*this, enter(delay, std::move(call)));
}

void VirtualTime::post(Milliseconds delay, std::function<void()> call) {
  enter(delay, std::move(call));
}

bool VirtualTime::run_next() {
  return run_next_until(Milliseconds::max());
}

bool VirtualTime::run_next_until(Milliseconds limit) {
  if (calls_.empty() || calls_.begin()->first.first > limit) return false;
  auto first = calls_.extract(calls_.begin());
  now_ = first.key().first;
  first.mapped()();
  return true;
}

}  // namespace fleet
