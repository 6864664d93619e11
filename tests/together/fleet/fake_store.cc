#include "tests/together/fleet/fake_store.h"

#include <algorithm>
#include <utility>

namespace fleet {

// ---- the fake of etcd

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
  if (from <= compacted_) return Relist{};
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

// ---- a client's connection to the fake of etcd

namespace {

Trouble no_answer() {
  return Trouble{Trouble::Kind::unreachable, "no answer within 5 s"};
}

}  // namespace

class FakeStore::FakeWatch : public Watch {
 public:
  FakeWatch(VirtualTime& time, FakeCell& cell, std::shared_ptr<Link> link, Keys keys, Revision from,
            Then<const WatchNews&> tell)
      : time_(time),
        cell_(cell),
        link_(std::move(link)),
        keys_(std::move(keys)),
        from_(from),
        tell_(std::move(tell)) {
    cell_.have_watched(this, [this] { deliver_later(); });
    deliver_later();
    expect_answer();
  }
  ~FakeWatch() override { cell_.forget(this); }

 private:
  void deliver_later() {
    if (delivery_ != nullptr || ended_) return;
    delivery_ = time_.after(link_->travel(), [this] {
      delivery_ = nullptr;
      deliver();
    });
  }

  void deliver() {
    if (!link_->reachable || !link_->open) return;
    const Revision before = from_;
    const std::optional<WatchNews> news = cell_.news(keys_, from_);
    if (!news) return;
    if (link_->happens(link_->faults.cut_watches)) {
      from_ = before;
      return end(WatchLost{{Trouble::Kind::unreachable, "the stream was cut off"}});
    }
    if (std::holds_alternative<Relist>(*news)) return end(*news);
    // The call may destroy this watch, and the member `tell_` with it. So a copy is called.
    const auto tell = tell_;
    tell(*news);
  }

  // Checks at intervals of `deadline` whether the fake cell can still be reached. If it cannot,
  // ends the watch.
  void expect_answer() {
    silence_ = time_.after(deadline, [this] {
      if (!link_->reachable) return end(WatchLost{no_answer()});
      deliver_later();
      expect_answer();
    });
  }

  void end(const WatchNews& news) {
    ended_ = true;
    cell_.forget(this);
    delivery_ = nullptr;
    silence_ = nullptr;
    const auto tell = tell_;
    if (link_->open) tell(news);
  }

  VirtualTime& time_;
  FakeCell& cell_;
  std::shared_ptr<Link> link_;
  Keys keys_;
  Revision from_;
  Then<const WatchNews&> tell_;
  std::unique_ptr<Timer> delivery_;
  std::unique_ptr<Timer> silence_;
  bool ended_ = false;
};

FakeStore::FakeStore(VirtualTime& time, FakeCell& cell, std::uint64_t seed, Faults faults)
    : time_(time), cell_(cell), link_(std::make_shared<Link>()) {
  link_->faults = faults;
  link_->chance.seed(seed);
}

FakeStore::~FakeStore() {
  link_->open = false;
}

// A request to the fake cell, and the function that gets its answer. If `deadline` passes before
// the cell answers, the function gets an error instead, and a later answer is ignored.
template <class Value>
struct FakeStore::Asked {
  std::shared_ptr<Link> link;
  Then<Value> then;
  bool answered = false;

  void answer(Value value) {
    if (std::exchange(answered, true) || !link->open) return;
    then(std::move(value));
  }
};

template <class Value>
void FakeStore::ask(std::function<Value(FakeCell&)> question, Value silence, Then<Value> then) {
  const auto asked = std::make_shared<Asked<Value>>(Asked<Value>{link_, std::move(then)});
  time_.post(deadline, [asked, silence] { asked->answer(silence); });

  if (!link_->reachable || link_->happens(link_->faults.lost_requests)) return;
  Milliseconds way = link_->travel();
  if (link_->happens(link_->faults.late_requests)) way += deadline;
  time_.post(way, [&time = time_, &cell = cell_, asked, question] {
    Link& link = *asked->link;
    if (!link.reachable) return;
    const Value value = question(cell);
    if (link.happens(link.faults.lost_answers)) return;
    time.post(link.travel(), [asked, value] {
      if (asked->link->reachable) asked->answer(value);
    });
  });
}

void FakeStore::read(Keys keys, Then<Reply<Reading>> then) {
  ask<Reply<Reading>>([keys](FakeCell& cell) { return cell.read(keys); }, no_answer(),
                      std::move(then));
}

void FakeStore::commit(Transaction transaction, Then<Outcome> then) {
  ask<Outcome>([transaction](FakeCell& cell) { return cell.commit(transaction); },
               Unknown{no_answer().reason}, std::move(then));
}

void FakeStore::grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) {
  ask<Reply<Lease>>([ttl](FakeCell& cell) { return cell.grant(ttl); }, no_answer(),
                    std::move(then));
}

void FakeStore::keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask<Reply<LeaseState>>([lease](FakeCell& cell) { return cell.keep_alive(lease); }, no_answer(),
                         std::move(then));
}

void FakeStore::revoke(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask<Reply<LeaseState>>([lease](FakeCell& cell) { return cell.revoke(lease); }, no_answer(),
                         std::move(then));
}

std::unique_ptr<Watch> FakeStore::watch(Keys keys, Revision from, Then<const WatchNews&> tell) {
  return std::make_unique<FakeWatch>(time_, cell_, link_, std::move(keys), from, std::move(tell));
}

}  // namespace fleet
