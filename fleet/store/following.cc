#include "fleet/store/following.h"

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
  const std::weak_ptr<char> alive = alive_;
  store_.read(keys_, [this, alive](Reply<Reading> answer) {
    if (!alive.expired()) take_reading(std::move(answer));
  });
}

void Following::take_reading(Reply<Reading> answer) {
  if (const auto* trouble = std::get_if<Trouble>(&answer)) return suffer(*trouble);
  auto& reading = std::get<Reading>(answer);
  std::erase_if(reading.found,
                [this](const KeyValue& record) { return !observer_.keeps(record.key); });
  watch_from(reading.revision + 1);
  const auto read = observer_.read;  // a copy, since the call may destroy this object
  read(std::move(reading));
}

void Following::watch_from(Revision from) {
  const std::weak_ptr<char> alive = alive_;
  watch_ = store_.watch(keys_, from, [this, alive](const WatchNews& news) {
    if (!alive.expired()) take_news(news);
  });
}

void Following::take_news(const WatchNews& news) {
  struct {
    Following& following;
    void operator()(const Changes& changes) const { following.take_changes(changes); }
    void operator()(const Relist&) const {
      following.watch_ = nullptr;
      following.read_all();
    }
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

// Ends the watch, and reads everything again after a pause. A new watch alone would not be enough:
// if the store was restored from a snapshot, its revisions are lower than before.
void Following::suffer(const Trouble& trouble) {
  watch_ = nullptr;
  retry_ = timers_.after(backoff_.next(), [this] { read_all(); });
  const auto troubled = observer_.troubled;
  troubled(trouble);
}

}  // namespace fleet
