#include "fleet/store/mirror.h"

#include <utility>

namespace fleet {

Mirror::Mirror(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed)
    : store_(store),
      timers_(timers),
      keys_(std::move(keys)),
      observer_(std::move(observer)),
      backoff_(seed) {
  read_all();
}

const KeyValue* Mirror::find(std::string_view key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}

void Mirror::read_all() {
  retry_ = nullptr;
  const std::weak_ptr<char> alive = alive_;
  store_.read(keys_, [this, alive](Reply<Reading> answer) {
    if (!alive.expired()) take_reading(std::move(answer));
  });
}

void Mirror::take_reading(Reply<Reading> answer) {
  if (const auto* trouble = std::get_if<Trouble>(&answer)) return suffer(*trouble);
  const Changes changes = difference_to(std::exchange(std::get<Reading>(answer), Reading()));
  revision_ = changes.revision;
  watch_on();
  follow(changes);
}

// Returns the differences between the mirror and the reading, sorted by key: new, changed and
// erased records.
Changes Mirror::difference_to(Reading reading) const {
  Changes changes{.revision = reading.revision, .changes = {}};
  auto old = records_.begin();
  const auto is_gone = [&] {
    changes.changes.push_back(
        Change{KeyValue{.key = old->first, .modified = reading.revision}, true});
    ++old;
  };
  for (KeyValue& now : reading.found) {
    if (!observer_.keeps(now.key)) continue;
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

void Mirror::watch_on() {
  const std::weak_ptr<char> alive = alive_;
  watch_ = store_.watch(keys_, revision_ + 1, [this, alive](const WatchNews& news) {
    if (!alive.expired()) take_news(news);
  });
}

void Mirror::take_news(const WatchNews& news) {
  struct {
    Mirror& mirror;
    void operator()(const Changes& changes) const { mirror.take_changes(changes); }
    void operator()(const Relist&) const {
      mirror.watch_ = nullptr;
      mirror.read_all();
    }
    void operator()(const WatchLost& lost) const { mirror.suffer(lost.trouble); }
  } take{*this};
  std::visit(take, news);
}

void Mirror::take_changes(const Changes& changes) {
  backoff_.reset();
  revision_ = changes.revision;
  Changes kept{.revision = changes.revision, .changes = {}};
  for (const Change& change : changes.changes) {
    if (observer_.keeps(change.now.key)) kept.changes.push_back(change);
  }
  if (!kept.changes.empty()) follow(kept);
}

void Mirror::follow(const Changes& changes) {
  for (const Change& change : changes.changes) {
    if (change.erased) {
      records_.erase(change.now.key);
    } else {
      records_[change.now.key] = change.now;
    }
  }
  const auto changed = observer_.changed;  // the called function may destroy the mirror
  changed(changes);
}

// Ends the watch, and reads everything again after a pause. A new watch would not be enough: if the
// store was restored from an older copy, its revisions are lower.
void Mirror::suffer(const Trouble& trouble) {
  watch_ = nullptr;
  retry_ = timers_.after(backoff_.next(), [this] { read_all(); });
  const auto troubled = observer_.troubled;
  troubled(trouble);
}

}  // namespace fleet
