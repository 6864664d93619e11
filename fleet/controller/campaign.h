// Decides which rollouts, plans and desired versions a controller tries to drive: all that have no
// driver. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// A rollout, a plan, or the cell's desired versions, which a driver can drive.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};                       // its name in its driver's key
  std::vector<std::string> components = {};  // for `desired`, the components

  bool operator==(const Drivable&) const = default;
};

// All rollouts, plans and desired versions that need a driver, kept up to date record by record.
// Rollouts and plans that have ended stay in the store, and must not be read again at each change
// of another one.
class Drivables {
 public:
  // Takes in a record below `rollout/`, `plan/` or `desired/`. Ignores all others, and a rollout or
  // a plan that cannot be read.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  [[nodiscard]] std::vector<Drivable> list() const;

 private:
  // The names of the rollouts and plans that need a driver, and of the wished components.
  std::set<std::string> rollouts_;
  std::set<std::string> plans_;
  std::set<std::string> components_;
};

class Campaign {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // The time between the end of a driver and the next try to drive the same run: the first one and
  // the longest. A driver that ends soon after it began will most likely do so again.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns those of `drivable` that do not rest and that no driver has, as the records below
  // `driver/` say.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns when the first of these `drivable` that rest may be driven again, or no value if none
  // of them rests.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Notes that a driver of this controller has ended. `drove` says that it had the key, and was not
  // only one of several controllers that wanted it.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
