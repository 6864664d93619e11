#include "tests/together/fleet/fake_cell.h"

#include <algorithm>

namespace fleet {

Reading FakeCell::read(const Keys& keys) const {
  Reading reading{.revision = revision_};
  for (auto at = keys_.lower_bound(keys.key); at != keys_.end() && keys.have(at->first); ++at) {
    reading.found.push_back(at->second);
  }
  return reading;
}

bool FakeCell::holds(const Compare& compare) const {
  const auto at = keys_.find(compare.key);
  if (at == keys_.end()) return compare.revision == 0;
  switch (compare.of) {
    case Compare::Of::modified:
      return at->second.modified == compare.revision;
    case Compare::Of::created:
      return at->second.created == compare.revision;
  }
  return false;
}

Outcome FakeCell::commit(const Transaction& transaction) {
  if (const auto why = why_not_taken(transaction)) return Denied{*why};
  for (const Compare& compare : transaction.compares) {
    if (!holds(compare)) return Refused{};
  }
  for (const Put& put : transaction.puts) {
    if (put.lease != 0 && !leases_.contains(put.lease)) return Refused{};
  }
  Past past{.revision = revision_ + 1, .changes = {}};
  for (const Put& put : transaction.puts) {
    KeyValue& record = keys_[put.key];
    const Revision created = record.created == 0 ? past.revision : record.created;
    record = KeyValue{put.key, put.value, created, past.revision, put.lease};
    past.changes.push_back(Change{record});
  }
  for (const Erase& gone : transaction.erases) {
    erase(Keys{gone.key, gone.subtree}, past);
  }
  enter(std::move(past));
  return Committed{revision_};
}

void FakeCell::erase(const Keys& keys, Past& past) {
  auto at = keys_.lower_bound(keys.key);
  while (at != keys_.end() && keys.have(at->first)) {
    past.changes.push_back(Change{KeyValue{.key = at->first, .modified = past.revision}, true});
    at = keys_.erase(at);
  }
}

// Appends the changes of a transaction to the history. As in etcd, a transaction without changes
// does not get a revision of its own.
void FakeCell::enter(Past past) {
  if (past.changes.empty()) return;
  revision_ = past.revision;
  history_.push_back(std::move(past));
  // Iterates over a copy, since a called watcher may add or remove watchers.
  const auto watchers = watchers_;
  for (const auto& [who, changed] : watchers) {
    if (watchers_.contains(who)) changed();
  }
}

Lease FakeCell::grant(std::chrono::seconds ttl) {
  const LeaseId id = next_lease_++;
  leases_[id] = Held{ttl, time_.now() + ttl, nullptr};
  expect_end(id);
  return Lease{id, ttl};
}

void FakeCell::expect_end(LeaseId id) {
  Held& held = leases_.at(id);
  held.timer = time_.after(held.ends - time_.now(), [this, id] { revoke(id); });
}

LeaseState FakeCell::keep_alive(LeaseId lease) {
  const auto at = leases_.find(lease);
  if (at == leases_.end()) return LeaseState::gone;
  at->second.ends = time_.now() + at->second.ttl;
  expect_end(lease);
  return LeaseState::alive;
}

LeaseState FakeCell::revoke(LeaseId lease) {
  if (leases_.erase(lease) == 0) return LeaseState::gone;
  Past past{.revision = revision_ + 1, .changes = {}};
  std::vector<std::string> bound;
  for (const auto& [key, record] : keys_) {
    if (record.lease == lease) bound.push_back(key);
  }
  for (const std::string& key : bound) {
    erase(Keys{key}, past);
  }
  enter(std::move(past));
  return LeaseState::gone;
}

void FakeCell::compact(Revision revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  std::erase_if(history_, [this](const Past& past) { return past.revision <= compacted_; });
}

std::optional<WatchNews> FakeCell::news(const Keys& keys, Revision& from) const {
  if (from <= compacted_) return Relist{compacted_};
  Changes told;
  for (const Past& past : history_) {
    if (past.revision < from) continue;
    for (const Change& change : past.changes) {
      if (keys.have(change.now.key)) told.changes.push_back(change);
    }
    told.revision = past.revision;
  }
  from = std::max(from, revision_ + 1);
  if (told.changes.empty()) return std::nullopt;
  return told;
}

void FakeCell::have_watched(const void* who, std::function<void()> changed) {
  watchers_[who] = std::move(changed);
}

}  // namespace fleet
