// Decides which rollouts, plans and desired versions a controller tries to drive, that is, to carry
// out step by step: all those that no controller drives yet. Does no input or output.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// A piece of work for one driver: a rollout, a plan, or all desired versions of the cell together.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};  // ID in the driver's key `driver/ID`
  // Only if `kind` is `desired`: the components with a desired version.
  std::vector<std::string> components = {};

  bool operator==(const Drivable&) const = default;
};

// The list of all rollouts, plans and desired versions that need a driver. The list is updated with
// each changed record, so that the other records, many of which belong to ended rollouts and plans,
// need not be read again.
class Drivables {
 public:
  // Updates the list with one record. Ignores a record whose key is not below `rollout/`, `plan/`
  // or `desired/`. If the record cannot be parsed, its rollout or plan is removed from the list.
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
  // same rollout or plan. Without a pause, a driver that cannot work would be started again and
  // again.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns those of `drivable` that may be begun now: they have no driver according to the records
  // below `driver/`, and the pause after their last driver is over.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns the time at which the next pause of one of the `drivable` ends, or no value if none of
  // them is in a pause.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Records that this controller's driver of `id` has ended. `drove` is false if the driver never
  // drove, because another controller had the driver's key.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
