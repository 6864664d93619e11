#include "fleet/agent/kept_records.h"

#include <utility>

namespace fleet {

KeptRecords::KeptRecords(Store& store, Timers& timers, const Mirror& mirror, std::uint64_t seed,
                         Observer observer)
    : store_(store),
      timers_(timers),
      mirror_(mirror),
      backoff_(seed, std::chrono::seconds(5)),
      observer_(std::move(observer)) {}

void KeptRecords::want(const std::string& key, const std::string& value, LeaseId lease) {
  const Wanted wanted{value, lease};
  Wanted& there = wanted_[key];
  if (there == wanted) return;
  there = wanted;
  look();
}

Transaction KeptRecords::missing() const {
  Transaction transaction;
  for (const auto& [key, wanted] : wanted_) {
    const KeyValue* found = mirror_.find(key);
    if (found != nullptr && found->value == wanted.value && found->lease == wanted.lease) continue;
    transaction.compares.push_back(
        Compare{.key = key, .revision = found == nullptr ? 0 : found->modified});
    transaction.puts.push_back(Put{key, wanted.value, wanted.lease});
  }
  return transaction;
}

bool KeptRecords::stand() const {
  return !writing_ && mirror_.revision() >= written_ && missing().puts.empty();
}

// Writes each wanted record whose value in the local copy is missing or different. If the copy's
// revision has decreased, the store was restored from a snapshot, and the revision in `written_`
// means nothing any more.
void KeptRecords::look() {
  if (mirror_.revision() < std::exchange(seen_, mirror_.revision())) written_ = 0;
  if (writing_ || retry_ != nullptr) return;
  if (!mirror_.follows() || mirror_.revision() < written_) return;
  Transaction transaction = missing();
  if (transaction.puts.empty()) return;
  transaction.compares.insert(transaction.compares.end(), compares_.begin(), compares_.end());
  writing_ = true;
  store_.commit(std::move(transaction),
                alive_.guard([this](const Outcome& outcome) { take(outcome); }));
}

// Handles the outcome of a write. If the write failed or its outcome is unknown, compares again
// after a pause, when the local copy has most likely caught up.
void KeptRecords::take(const Outcome& outcome) {
  writing_ = false;
  if (const auto* done = std::get_if<Committed>(&outcome)) {
    written_ = done->revision;
    backoff_.reset();
    look();
    if (stand()) observer_.stand();
    return;
  }
  retry_later();
  if (const auto* denied = std::get_if<Denied>(&outcome)) observer_.denied(denied->reason);
}

void KeptRecords::retry_later() {
  retry_ = timers_.after(backoff_.next(), [this] {
    retry_ = nullptr;
    look();
  });
}

}  // namespace fleet
