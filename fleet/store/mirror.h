// Keeps an up-to-date copy of some of the store's records. If a watch ends, the records are read
// again, and the changes in between are reported, too: see following.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fleet/store/following.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class Mirror {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // Each of these functions may destroy the mirror that calls it.
  struct Observer {
    // Called when the copy has changed. The first call reports all records as changes.
    std::function<void(const Changes&)> changed;
    // Called when the copy can no longer be kept up to date. It is up to date again when `changed`
    // is called next.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether the copy should contain this key. Other keys are ignored.
    std::function<bool(const std::string& key)> keeps = [](const std::string&) { return true; };
  };

  // `seed` decides the random pauses. Each mirror should have another seed, so that they do not all
  // try again at the same moment. The store and the timers must live longer than the mirror.
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
