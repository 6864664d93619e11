// Records that stand in the store as they are wanted: written, read back by a mirror, and written
// again until they do, whatever becomes of an answer. All that differ are written at once, and only
// while what they depend on is so.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
    // All have come to stand as they are wanted.
    std::function<void()> stand = [] {};
    // Called for a record that cannot be written at all.
    std::function<void(const std::string& reason)> denied;
  };

  // `mirror` follows all of the keys.
  KeptRecords(Store& store, Timers& timers, const Mirror& mirror, std::uint64_t seed,
              Observer observer);
  KeptRecords(const KeptRecords&) = delete;
  KeptRecords& operator=(const KeptRecords&) = delete;

  // With everything that is written from now on.
  void compare(std::vector<Compare> compares) { compares_ = std::move(compares); }
  void want(const std::string& key, const std::string& value, LeaseId lease = 0);
  void forget(const std::string& key) { wanted_.erase(key); }

  // The mirror has changed.
  void look();
  // All stand as they are wanted.
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
  Revision written_ = 0;  // the mirror has to come so far before it says anything
  Revision seen_ = 0;     // how far it had come when it was looked at last
  std::unique_ptr<Timer> retry_;
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
