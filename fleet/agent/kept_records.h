// Keeps some records in the store at the values that this process wants. Compares these values with
// the local copy of the store (the mirror), and writes the records that differ, in one transaction.
// Repeats this until all values agree, so a lost answer of the store does no harm.
//
// The transaction fails if one of these records, or one given to compare(), has changed since the
// mirror read it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/store/alive.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class KeptRecords {
 public:
  struct Wanted {
    std::string value = {};
    LeaseId lease = 0;

    bool operator==(const Wanted&) const = default;
  };

  struct Observer {
    // Called when a write has succeeded and the local copy shows all wanted values.
    std::function<void()> stand = [] {};
    // Called with the store's reason if the store denies a write, for example because this machine
    // has no permission for the write, or because the store is full.
    std::function<void(const std::string& reason)> denied;
  };

  // `mirror` is the local copy of the store. It must include all keys that want() gets.
  KeptRecords(Store& store, Timers& timers, const Mirror& mirror, std::uint64_t seed,
              Observer observer);
  KeptRecords(const KeptRecords&) = delete;
  KeptRecords& operator=(const KeptRecords&) = delete;

  // Sets conditions that each later write must meet, such as the revision of a record that this
  // object does not write. Replaces the conditions of an earlier call.
  void compare(std::vector<Compare> compares) { compares_ = std::move(compares); }
  void want(const std::string& key, const std::string& value, LeaseId lease = 0);
  void forget(const std::string& key) { wanted_.erase(key); }

  // Writes the records that differ from their wanted values. The owner calls this after each change
  // of the mirror.
  void look();
  // Returns whether the store has the wanted values of all records.
  [[nodiscard]] bool stand() const;

 private:
  [[nodiscard]] Transaction missing() const;
  void take(const Outcome& outcome);
  void retry_later();

  Store& store_;
  Timers& timers_;
  const Mirror& mirror_;
  Backoff backoff_;
  Observer observer_;
  std::vector<Compare> compares_;
  std::map<std::string, Wanted> wanted_;
  bool writing_ = false;
  Revision written_ = 0;  // the store's revision after our last write
  Revision seen_ = 0;     // the mirror's revision at the last look()
  std::unique_ptr<Timer> retry_;
  Alive alive_;
};

}  // namespace fleet
