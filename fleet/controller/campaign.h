// Decides which rollouts, plans and desired versions this controller tries to drive, that is, to
// carry out step by step. The controller tries to drive each one that has no driver in any
// controller yet. Does no input or output.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The work of one driver, a state machine that carries the work out step by step. The work is one
// rollout, one plan, or all desired versions of the cell together.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};  // ID in the driver's key `driver/ID`
  // The components with a desired version. Empty unless `kind` is `desired`.
  std::vector<std::string> components = {};

  bool operator==(const Drivable&) const = default;
};

// The list of all rollouts, plans and desired versions that need a driver, which carries them out
// step by step. Each changed record updates the list. So the unchanged records, many of which
// belong to ended rollouts and plans, need not be parsed again.
class Drivables {
 public:
  // Updates the list with a new or changed record. Ignores a record that is not a rollout, a plan
  // or a desired version. If a rollout or plan cannot be parsed, removes it from the list.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  [[nodiscard]] std::vector<Drivable> list() const;

 private:
  // The names of the rollouts and plans that need a driver, and the names of the components that
  // have a desired version.
  std::set<std::string> rollouts_;
  std::set<std::string> plans_;
  std::set<std::string> components_;
};

class Campaign {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // The shortest and the longest pause between the end of a driver and the next try of this
  // controller to drive the same rollout or plan. Without a pause, a driver that fails at once
  // would be restarted all the time.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns the rollouts, plans and desired versions in `drivable` for which a driver may be
  // started now. They have no driver now, and the pause after their last driver is over. `drivers`
  // contains a record below the key `driver/` for each running driver.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns the earliest time at which the pause after the last driver of a rollout, a plan or the
  // desired versions in `drivable` ends, so that a new driver may be started. Returns no value if
  // there is no such pause.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Records that a driver of this controller has ended, and begins the pause after it. `id` is the
  // last part of the driver's key `driver/ID`: the name of a rollout or plan, or another name such
  // as `desired`. `began` is the time at which the driver was started. `drove` is false if the
  // driver never did any work, because it did not get this key: another controller had it.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
