// Follows some of the store's records. Reads all of them, and then watches their changes from the
// revision of that reading on. Whenever the watch ends, reads all of them again. Keeps no copy of
// the records: for that, see mirror.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fleet/store/backoff.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class Following {
 public:
  // Each of these functions may destroy the Following object that calls it.
  struct Observer {
    // Called with all records: at first, and again whenever a watch has ended.
    std::function<void(Reading)> read;
    // Called with each change after the last reading.
    std::function<void(const Changes&)> changed;
    // Called when changes are no longer reported. After that, `read` is called before `changed`.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether changes of this key are reported. This is needed if the reading and the watch
    // cover more keys than the caller wants.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` decides the random pauses. Each client should have another seed, so that they do not all
  // try again at once. The store and the timers must live longer than this object.
  Following(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed);
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following() = default;

  // Returns whether changes are being reported now.
  [[nodiscard]] bool follows() const { return watch_ != nullptr; }

 private:
  void read_all();
  void take_reading(Reply<Reading> answer);
  void watch_from(Revision from);
  void take_news(const WatchNews& news);
  void take_changes(const Changes& changes);
  void suffer(const Trouble& trouble);

  Store& store_;
  Timers& timers_;
  Keys keys_;
  Observer observer_;
  Backoff backoff_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Timer> retry_;
  // A callback from the store may come after this object was destroyed. So the callbacks hold a
  // weak pointer to `alive_`, and do nothing if that pointer has expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
