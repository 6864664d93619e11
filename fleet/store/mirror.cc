#include "fleet/store/mirror.h"

#include <utility>

namespace fleet {

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

// Returns the differences between the mirror and the reading, sorted by key: the new, changed and
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
  const auto changed = changed_;  // a copy, since the call may destroy the mirror
  changed(changes);
}

}  // namespace fleet
