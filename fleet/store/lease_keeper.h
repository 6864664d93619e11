// Holds one lease for as long as it lives: takes it, keeps it alive, takes another when it is gone.
// Tells when there is none to rely on, counted on our own clock from before each question.
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
    // There is a lease that nothing is bound to yet.
    std::function<void(const Lease&)> taken;
    // The lease is not to be relied on any more: what is bound to it is erased, or will be.
    std::function<void(const std::string& reason)> lost;
    // It was renewed.
    std::function<void()> kept = [] {};
  };

  LeaseKeeper(Store& store, Timers& timers, std::chrono::seconds ttl, Observer observer,
              std::uint64_t seed);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper() = default;

  // 0 if there is none that could be relied on.
  [[nodiscard]] LeaseId lease() const { return lease_.id; }

  // Gives the lease back; then the keeper does nothing any more.
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
  std::unique_ptr<Timer> next_;  // the next question
  std::unique_ptr<Timer> end_;   // the lease's
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
