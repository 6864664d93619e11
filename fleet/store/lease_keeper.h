// Keeps one lease: gets it from the store, renews it, and gets a new one after its end. Reports
// when the lease may have ended, by this machine's clock: the lease's time runs from the moment at
// which the last successful renewal was sent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fleet/store/alive.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class LeaseKeeper {
 public:
  struct Observer {
    // Called when the store has granted a new lease. No key is attached to this lease yet.
    std::function<void(const Lease&)> taken;
    // Called when the lease has ended, or may have ended. At the end of a lease, the store erases
    // the keys that are attached to it.
    std::function<void(const std::string& reason)> lost;
    // Called each time the store has renewed the lease.
    std::function<void()> kept = [] {};
  };

  LeaseKeeper(Store& store, Timers& timers, std::chrono::seconds ttl, Observer observer,
              std::uint64_t seed);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper() = default;

  // Returns the id of the lease, or 0 if there is no lease or the lease may have ended.
  [[nodiscard]] LeaseId lease() const { return lease_.id; }

  // Ends the lease in the store. This object does and reports nothing afterwards.
  void end();

 private:
  using Milliseconds = Timers::Milliseconds;

  void take();
  void take_answer(const Reply<Lease>& answer, Milliseconds asked);
  void keep();
  void keep_answer(const Reply<LeaseState>& answer, Milliseconds asked);
  void rely_until(Milliseconds end);
  void lose(const std::string& reason);

  Store& store_;
  Timers& timers_;
  std::chrono::seconds ttl_;
  Observer observer_;
  Backoff backoff_;
  Lease lease_;
  std::unique_ptr<Timer> next_;  // the timer for the next renewal or request
  std::unique_ptr<Timer> end_;   // the timer for the end of the lease
  Alive alive_;
};

}  // namespace fleet
