// A copy of some keys that follows the store: reads all of them, watches from that revision on, and
// begins again whenever the watch ends. Also tells the changes that were missed meanwhile.
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
    // Called when the copy has followed these changes. The first call has all records.
    std::function<void(const Changes&)> changed;
    // Called when the copy no longer follows the store, until `changed` is called again.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether to keep a key. Other keys are neither kept nor told, since one reading and
    // one watch may have to cover more keys than are wanted.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` spreads the tries of many mirrors. The store and the timers must live longer than the
  // mirror.
  Mirror(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() = default;

  [[nodiscard]] const Records& records() const { return records_; }
  [[nodiscard]] const KeyValue* find(std::string_view key) const;
  // Returns 0 if nothing has been read yet.
  [[nodiscard]] Revision revision() const { return revision_; }
  // Returns whether the store answers, and no change is known to be missing.
  [[nodiscard]] bool follows() const { return watch_ != nullptr; }

 private:
  void read_all();
  void take_reading(const Reply<Reading>& answer);
  void watch_on();
  void take_news(const WatchNews& news);
  void follow(const Changes& changes);
  void suffer(const Trouble& trouble);
  [[nodiscard]] Changes difference_to(const Reading& reading) const;
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
  // Callbacks hold a weak pointer to `alive_`, since answers of the store may come after this
  // object has ended.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
