// Decides for which rollouts, plans and desired versions this controller starts a driver (the state
// machine that carries them out). Starts none for work that has a driver in another controller.
// Does no input or output.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The work of one driver: a rollout, a plan, or all desired versions of the cell together.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};  // ID in the driver's key `driver/ID`
  // The components that have a desired version in the cell; empty unless `kind` is `desired`.
  std::vector<std::string> components = {};

  bool operator==(const Drivable&) const = default;
};

// The rollouts and plans that need a driver, and all desired versions. The list is updated with
// each changed record, so the records of the many ended rollouts need not be parsed again. Desired
// versions always need a driver, since a person may desire a version of a single node at any time.
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

  // The shortest and the longest pause after the end of a driver, before this controller starts the
  // next one for the same work. Without a pause, a driver that fails immediately would be started
  // again all the time.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Returns the members of `drivable` for which this controller may start a driver now: no
  // controller has a driver for them, and the pause after their last driver is over. `drivers`
  // contains the records below the key `driver/`.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // Returns the earliest time at which a pause for one of `drivable` ends, or no value if there is
  // no pause.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // Begins the pause after a driver of this controller has ended. `id` is the ID in its key
  // `driver/ID`, and `began` is the time of its start. `drove` is false if the driver never worked,
  // since another controller had the key.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
