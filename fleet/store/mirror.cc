#include "fleet/store/mirror.h"

#include <utility>

namespace fleet {

Following::Following(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed)
    : store_(store),
      timers_(timers),
      keys_(std::move(keys)),
      observer_(std::move(observer)),
      backoff_(seed) {
  read_all();
}

void Following::read_all() {
  retry_ = nullptr;
  store_.read(keys_,
              alive_.guard([this](Reply<Reading> answer) { take_reading(std::move(answer)); }));
}

void Following::take_reading(Reply<Reading> answer) {
  if (const auto* trouble = std::get_if<Trouble>(&answer)) return suffer(*trouble);
  auto& reading = std::get<Reading>(answer);
  std::erase_if(reading.found,
                [this](const KeyValue& record) { return !observer_.keeps(record.key); });
  watch_from(reading.revision + 1);
  const auto read = observer_.read;  // a copy, since read() may destroy this object
  read(std::move(reading));
}

void Following::watch_from(Revision from) {
  watch_ =
      store_.watch(keys_, from, alive_.guard([this](const WatchNews& news) { take_news(news); }));
}

void Following::take_news(const WatchNews& news) {
  struct {
    Following& following;
    void operator()(const Changes& changes) const { following.take_changes(changes); }
    void operator()(const Relist&) const { following.read_again(); }
    void operator()(const WatchLost& lost) const { following.suffer(lost.trouble); }
  } take{*this};
  std::visit(take, news);
}

void Following::take_changes(const Changes& changes) {
  backoff_.reset();
  Changes kept{.revision = changes.revision, .changes = {}};
  for (const Change& change : changes.changes) {
    if (observer_.keeps(change.now.key)) kept.changes.push_back(change);
  }
  const auto changed = observer_.changed;
  changed(kept);
}

// Ends the watch, and reads all records again after a pause. A new watch alone could miss changes:
// a restored store has lower revisions than before. The pause protects a store that ends each watch
// immediately.
void Following::read_again() {
  watch_ = nullptr;
  retry_ = timers_.after(backoff_.next(), [this] { read_all(); });
}

void Following::suffer(const Trouble& trouble) {
  read_again();
  const auto troubled = observer_.troubled;
  troubled(trouble);
}

Mirror::Mirror(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed)
    : changed_(std::move(observer.changed)),
      following_(
          store, timers, std::move(keys),
          {.read = [this](Reading reading) { take_changes(difference_to(std::move(reading))); },
           .changed =
               [this](const Changes& changes) {
                 if (!changes.changes.empty()) return take_changes(changes);
                 revision_ = changes.revision;
               },
           .troubled = std::move(observer.troubled),
           .keeps = std::move(observer.keeps)},
          seed) {}

const KeyValue* Mirror::find(std::string_view key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}

// Returns the changes from the mirror's copy to a new reading, sorted by key: records that are new,
// changed or erased.
Changes Mirror::difference_to(Reading reading) const {
  Changes changes{.revision = reading.revision, .changes = {}};
  auto old = records_.begin();
  const auto is_gone = [&] {
    changes.changes.push_back(
        Change{KeyValue{.key = old->first, .modified = reading.revision}, true});
    ++old;
  };
  for (KeyValue& now : reading.found) {
    while (old != records_.end() && old->first < now.key) {
      is_gone();
    }
    const bool known = old != records_.end() && old->first == now.key;
    if (!known || old->second != now) changes.changes.push_back(Change{std::move(now)});
    if (known) ++old;
  }
  while (old != records_.end()) {
    is_gone();
  }
  return changes;
}

void Mirror::take_changes(const Changes& changes) {
  revision_ = changes.revision;
  for (const Change& change : changes.changes) {
    if (change.erased) {
      records_.erase(change.now.key);
    } else {
      records_[change.now.key] = change.now;
    }
  }
  const auto changed = changed_;  // a copy, since changed() may destroy the mirror
  changed(changes);
}

}  // namespace fleet
