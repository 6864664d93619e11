// Holds one lease: takes it, keeps it alive, and takes another when it is gone. Tells when there is
// no reliable lease any more. The lease's time is counted on our own clock from before each
// question.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fleet/store/backoff.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class LeaseKeeper {
 public:
  struct Observer {
    // Called when there is a new lease, with which no key has been written yet.
    std::function<void(const Lease&)> taken;
    // Called when the lease is no longer reliable: keys on it are erased, or will be.
    std::function<void(const std::string& reason)> lost;
    // Called when the lease was renewed.
    std::function<void()> kept = [] {};
  };

  LeaseKeeper(Store& store, Timers& timers, std::chrono::seconds ttl, Observer observer,
              std::uint64_t seed);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper() = default;

  // Returns 0 if there is no reliable lease.
  [[nodiscard]] LeaseId lease() const { return lease_.id; }

  // Gives the lease back; the keeper then does nothing more.
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
  std::unique_ptr<Timer> next_;  // asks the next question
  std::unique_ptr<Timer> end_;   // ends the lease
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
