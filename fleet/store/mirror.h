// A copy of some of the store's records that is kept up to date: reads all of them, watches from
// that revision on, and reads again whenever the watch ends. Changes that happened in between are
// reported, too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fleet/store/backoff.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class Mirror {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  struct Observer {
    // Called when the copy has changed. At the first call, the changes are all records.
    std::function<void(const Changes&)> changed;
    // Called when the copy is no longer kept up to date. When `changed` is called next, the copy is
    // up to date again.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether this key belongs into the copy. Other keys are ignored, since one reading and
    // one watch may cover more keys than are needed.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` decides the random pauses. It should differ between mirrors, so that they do not all try
  // again at the same moment. The store and the timers must live longer than the mirror.
  Mirror(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() = default;

  [[nodiscard]] const Records& records() const { return records_; }
  [[nodiscard]] const KeyValue* find(std::string_view key) const;
  // Returns the revision of the copy, or 0 before the first reading.
  [[nodiscard]] Revision revision() const { return revision_; }
  // Returns whether the copy is kept up to date now.
  [[nodiscard]] bool follows() const { return watch_ != nullptr; }

 private:
  void read_all();
  void take_reading(Reply<Reading> answer);
  void watch_on();
  void take_news(const WatchNews& news);
  void follow(const Changes& changes);
  void suffer(const Trouble& trouble);
  [[nodiscard]] Changes difference_to(Reading reading) const;
  void take_changes(const Changes& changes);

  Store& store_;
  Timers& timers_;
  Keys keys_;
  Observer observer_;
  Backoff backoff_;
  Records records_;
  Revision revision_ = 0;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Timer> retry_;
  // A callback from the store may come after this object was destroyed. So callbacks hold a weak
  // pointer to `alive_`, and do nothing if it has expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
