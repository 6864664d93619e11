// Decides which rollouts, plans and desired versions a controller tries to drive, that is to carry
// out step by step: all those that no controller drives yet. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// One piece of work for a driver: a rollout, a plan, or all desired versions of the cell together.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};                       // the last part of the key of its driver: `driver/ID`
  std::vector<std::string> components = {};  // only if `kind` is `desired`: the components

  bool operator==(const Drivable&) const = default;
};

// The list of all rollouts, plans and desired versions that need a driver. The records of ended
// rollouts and plans stay in the store for a while. So that they are not read again and again, the
// list is updated by each single change of a record.
class Drivables {
 public:
  // Updates the list with one record. Ignores records that are not below `rollout/`, `plan/` or
  // `desired/`, and drops a rollout or plan that cannot be read.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  [[nodiscard]] std::vector<Drivable> list() const;

 private:
  // The names of the rollouts and plans that need a driver, and of the components with a desired
  // version.
  std::set<std::string> rollouts_;
  std::set<std::string> plans_;
  std::set<std::string> components_;
};

class Campaign {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // The shortest and the longest pause between the end of a driver and the next try to drive the
  // same rollout or plan. A driver that ended soon after it began will most likely end soon again.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns those of `drivable` that have no driver, according to the records below `driver/`, and
  // that are not in a pause after their last driver.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns the time at which the first of the `drivable` that are in a pause may be tried again,
  // or no value if none is in a pause.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Notes that this controller's driver of `id` has ended. `drove` is false if it never drove,
  // because another controller had the driver's key.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
