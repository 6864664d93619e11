#include "fleet/store/lease_keeper.h"

#include <utility>

namespace fleet {

LeaseKeeper::LeaseKeeper(Store& store, Timers& timers, std::chrono::seconds ttl, Observer observer,
                         std::uint64_t seed)
    : store_(store),
      timers_(timers),
      ttl_(ttl),
      observer_(std::move(observer)),
      backoff_(seed, std::chrono::seconds(ttl) / 2) {
  take();
}

void LeaseKeeper::take() {
  next_ = nullptr;
  store_.grant(ttl_, alive_.guard([this, asked = timers_.now()](const Reply<Lease>& answer) {
    take_answer(answer, asked);
  }));
}

void LeaseKeeper::take_answer(const Reply<Lease>& answer, Milliseconds asked) {
  if (std::holds_alternative<Trouble>(answer)) {
    next_ = timers_.after(backoff_.next(), [this] { take(); });
    return;
  }
  lease_ = std::get<Lease>(answer);
  rely_until(asked + lease_.ttl);
  next_ =
      timers_.after(std::chrono::duration_cast<Milliseconds>(lease_.ttl) / 3, [this] { keep(); });
  const auto taken = observer_.taken;
  taken(lease_);
}

void LeaseKeeper::keep() {
  next_ = nullptr;
  const auto then = [this, asked = timers_.now(), of = lease_.id](const Reply<LeaseState>& answer) {
    if (of == lease_.id) keep_answer(answer, asked);
  };
  store_.keep_alive(lease_.id, alive_.guard(then));
}

void LeaseKeeper::keep_answer(const Reply<LeaseState>& answer, Milliseconds asked) {
  if (std::holds_alternative<Trouble>(answer)) {
    next_ = timers_.after(backoff_.next(), [this] { keep(); });
    return;
  }
  if (std::get<LeaseState>(answer) == LeaseState::gone) return lose("the lease has ended");
  backoff_.reset();
  rely_until(asked + lease_.ttl);
  next_ =
      timers_.after(std::chrono::duration_cast<Milliseconds>(lease_.ttl) / 3, [this] { keep(); });
  const auto kept = observer_.kept;
  kept();
}

void LeaseKeeper::rely_until(Milliseconds end) {
  const Milliseconds left = std::max(end - timers_.now(), Milliseconds(0));
  end_ =
      timers_.after(left, [this] { lose("the store has not answered for as long as it lasts"); });
}

void LeaseKeeper::lose(const std::string& reason) {
  lease_ = Lease{};
  end_ = nullptr;
  next_ = timers_.after(backoff_.next(), [this] { take(); });
  const auto lost = observer_.lost;
  lost(reason);
}

void LeaseKeeper::end() {
  alive_.end();
  next_ = nullptr;
  end_ = nullptr;
  if (lease_.id != 0) store_.revoke(lease_.id, [](const Reply<LeaseState>&) {});
  lease_ = Lease{};
}

}  // namespace fleet
