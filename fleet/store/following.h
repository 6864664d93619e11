// Follows some of the store's records: reads all of them, watches from that revision on, and reads
// all of them again whenever the watch ends. Keeps no copy of them: see mirror.h.
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
  // Each function may destroy the Following that calls it.
  struct Observer {
    // Called with all records, at first and whenever a watch has ended.
    std::function<void(Reading)> read;
    // Called with each change that comes after the last reading.
    std::function<void(const Changes&)> changed;
    // Called when changes are no longer reported. The next call is that of `read`.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether this key is reported. Other keys are ignored: one reading and one watch may
    // cover more keys than are needed.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` should differ between clients, so that they do not all try again at once. The store and
  // the timers must live longer than this object.
  Following(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed);
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following() = default;

  // Returns whether changes are reported now.
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
  // A callback from the store may come after this object was destroyed. So callbacks hold a weak
  // pointer to `alive_`, and do nothing if it has expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
