// A copy of some of the store's records that is kept up to date. Changes that happened between the
// end of a watch and the next reading are reported, too: see following.h.
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

  // Each function may destroy the mirror.
  struct Observer {
    // Called when the copy has changed. At the first call, the changes are all records.
    std::function<void(const Changes&)> changed;
    // Called when the copy is no longer kept up to date. When `changed` is called next, the copy is
    // up to date again.
    std::function<void(const Trouble&)> troubled = [](const Trouble&) {};
    // Returns whether this key belongs into the copy. Other keys are ignored.
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
