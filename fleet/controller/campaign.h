// A controller campaigns for all that is to be driven and is not. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// A rollout, a plan, or the cell's desired versions.
struct Drivable {
  enum class Kind { rollout, plan, desired };

  Kind kind = Kind::rollout;
  std::string id = {};                       // as its driver's key has it
  std::vector<std::string> components = {};  // of `desired`

  bool operator==(const Drivable&) const = default;
};

// All that is to be driven by somebody, kept up to date record by record: rollouts and plans that
// have ended stay in the store, and must not be read again at each change of another.
class Drivables {
 public:
  // Of the records below `rollout/`, `plan/` and `desired/`; others are left alone, and so is a
  // rollout or a plan that cannot be read.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  [[nodiscard]] std::vector<Drivable> list() const;

 private:
  // By name.
  std::set<std::string> rollouts_;
  std::set<std::string> plans_;
  std::set<std::string> components_;
};

class Campaign {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  // Between the end of a driver and the next try to drive the same. A driver that ends soon after
  // it began will most likely do so again.
  static constexpr Ms first_rest_ms = 1'000;
  static constexpr Ms longest_rest_ms = 30'000;

  // Of these, what nobody drives, as the records below `driver/` have it, and what does not rest.
  [[nodiscard]] std::vector<Drivable> to_begin(const std::vector<Drivable>& drivable,
                                               const Records& drivers, Ms now) const;
  // When a rest of one of these ends; none: none rests.
  [[nodiscard]] std::optional<Ms> next_deadline(const std::vector<Drivable>& drivable,
                                                Ms now) const;

  // A driver of ours has ended. `drove`: it had the key, and was not one of several that wanted it.
  void ended(const std::string& id, bool drove, Ms began, Ms now);

 private:
  struct Rest {
    Ms length = 0;
    Ms until = 0;
  };

  std::map<std::string, Rest> rests_;
};

}  // namespace fleet
