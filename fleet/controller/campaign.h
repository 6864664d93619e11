// Decides for which rollouts, plans and desired versions this controller starts a driver. A driver
// is the state machine that carries out a rollout or plan, step by step. A rollout that has a
// driver in another controller needs none here. This file does no input or output.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The work of one driver: one rollout, one plan, or all desired versions of the cell together.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};  // ID in the driver's key `driver/ID`
  // The components of which the cell has a desired version. Empty unless `kind` is `desired`.
  std::vector<std::string> components = {};

  bool operator==(const Drivable&) const = default;
};

// The list of all rollouts and plans that need a driver. The desired versions always need one: even
// if the cell has none, a person may desire a version of one node. Each changed record updates the
// list, so that the other records, most of which belong to ended rollouts and plans, need not be
// parsed again.
class Drivables {
 public:
  // Updates the list with a new or changed record. Ignores a record that is not a rollout, a plan
  // or a desired version. If a rollout or plan cannot be parsed, removes it from the list.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  [[nodiscard]] std::vector<Drivable> list() const;

 private:
  std::set<std::string> rollouts_;  // the names of rollouts that need a driver
  std::set<std::string> plans_;     // the names of plans that need a driver
  // The components of which the cell has a desired version.
  std::set<std::string> components_;
};

class Campaign {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // The shortest and the longest pause between the end of a driver and the start of this
  // controller's next driver for the same rollout or plan. Without a pause, a driver that fails
  // immediately would be started again all the time.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns those of `drivable` for which a driver may be started now: they have no driver, and the
  // pause after their last driver is over. `drivers` has the records below the key `driver/`, one
  // for each driver in any controller.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns the earliest time at which a pause for one of `drivable` ends, or no value if there is
  // no pause.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Called when a driver of this controller has ended; begins the pause. `id` is the ID in the
  // driver's key `driver/ID`. `began` is the time at which the driver was started. `drove` is false
  // if the driver never got its key, and so did no work, because another controller had the key.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
