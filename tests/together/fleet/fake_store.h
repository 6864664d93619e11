// One client's way to a FakeCell, with faults: requests and answers that are lost or late, watches
// that are cut off. Only the seed decides which of them fail.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "fleet/store/store.h"
#include "tests/together/fleet/fake_cell.h"
#include "tests/together/fleet/virtual_time.h"

namespace fleet {

// How many of a thousand requests, answers or watches fail.
struct Faults {
  unsigned lost_requests = 0;
  unsigned lost_answers = 0;
  // Of a thousand requests, how many arrive after the client has given up.
  unsigned late_requests = 0;
  unsigned cut_watches = 0;  // of a thousand deliveries to a watch, how many end the watch
};

class FakeStore : public Store {
 public:
  using Milliseconds = Timers::Milliseconds;
  // The time after which a question counts as unanswered.
  static constexpr Milliseconds deadline{5'000};
  // The longest time that a request or an answer takes if it is not one of the late ones.
  static constexpr Milliseconds travel_max{20};

  FakeStore(VirtualTime& time, FakeCell& cell, std::uint64_t seed = 0, Faults faults = {});
  ~FakeStore() override;

  void read(Keys keys, Then<Reply<Reading>> then) override;
  void commit(Transaction transaction, Then<Outcome> then) override;
  void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) override;
  void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) override;
  void revoke(LeaseId lease, Then<Reply<LeaseState>> then) override;
  [[nodiscard]] std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                             Then<const WatchNews&> tell) override;

  // Cuts the client off, or connects it again. While it is cut off, nothing passes in either
  // direction, and its watches end after their deadline.
  void set_reachable(bool reachable) { link_->reachable = reachable; }
  void set_faults(Faults faults) { link_->faults = faults; }

 private:
  class FakeWatch;
  // The facts that a message under way needs. They outlive the store object, since the message may
  // arrive later.
  struct Link {
    Faults faults;
    std::mt19937_64 chance;
    bool reachable = true;
    bool open = true;

    [[nodiscard]] bool happens(unsigned of_a_thousand) { return chance() % 1'000 < of_a_thousand; }
    [[nodiscard]] Milliseconds travel() {
      return Milliseconds(
          1 + static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(travel_max.count())));
    }
  };

  template <class Value>
  struct Asked;

  template <class Value>
  void ask(std::function<Value(FakeCell&)> question, Value silence, Then<Value> then);

  VirtualTime& time_;
  FakeCell& cell_;
  std::shared_ptr<Link> link_;
};

}  // namespace fleet
