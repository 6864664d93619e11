// Keeps a local copy of some of the store's records up to date by a watch. If the watch ends, for
// example with its connection, reads the records again, so that no change is missed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/store/alive.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// Reads all records with these keys, and then watches their changes. Reads all of them again after
// each end of the watch. Mirror also keeps a copy of the records; this class does not.
class Following {
 public:
  // Each of these functions may destroy the Following object that calls it.
  struct Observer {
    // Called with all records: once at the start, and again after each end of a watch.
    std::function<void(Reading)> read;
    // Called with each change after the last call of `read`.
    std::function<void(const Changes&)> changed;
    // Called when the watch is lost or a reading has failed. No changes are reported until the next
    // call of `read`.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether to report this key, if `keys` covers more than the caller wants.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` decides the random pauses; it should differ between clients, so that they do not all try
  // again at the same moment. The store and the timers must live longer than this object.
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
  void read_again();
  void suffer(const Trouble& trouble);

  Store& store_;
  Timers& timers_;
  Keys keys_;
  Observer observer_;
  Backoff backoff_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Timer> retry_;
  Alive alive_;
};

// Keeps a local copy of the followed records, with the newest value of each record.
class Mirror {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // Each of these functions may destroy the mirror that calls it.
  struct Observer {
    // Called when the copy has changed. The first call reports all records as changes.
    std::function<void(const Changes&)> changed;
    // Called when changes cannot be followed. The next call of `changed` shows that the copy is up
    // to date again.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether the copy should contain this key. Other keys are ignored.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` decides the random pauses; it should differ between mirrors, so that they do not all try
  // again at the same moment. The store and the timers must live longer than the mirror.
  Mirror(Store& store, Timers& timers, Keys keys, Observer observer, std::uint64_t seed);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() = default;

  [[nodiscard]] const Records& records() const { return records_; }
  [[nodiscard]] const KeyValue* find(std::string_view key) const;
  // Returns the revision of the copy, or 0 before the first reading.
  [[nodiscard]] Revision revision() const { return revision_; }
  // Returns whether the copy is being kept up to date now.
  [[nodiscard]] bool follows() const { return following_.follows(); }

 private:
  [[nodiscard]] Changes difference_to(Reading reading) const;
  void take_changes(const Changes& changes);

  std::function<void(const Changes&)> changed_;
  Records records_;
  Revision revision_ = 0;
  Following following_;
};

}  // namespace fleet
