// Lists the fleet-controllers of a cell, and finds those that are silent. A controller has two
// records: controller/NAME stays when it ends, and controller/NAME/life/ID is on a lease. So a
// controller that has only the first record is silent. Pure.
//
// A controller of a version that writes no such records is known only while it drives something.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/keys.h"
#include "fleet/model/transaction.h"

namespace fleet {

class ControllersAtWork {
 public:
  // Returns whether take() and take_absent() use records of this kind. They ignore all others.
  [[nodiscard]] static bool needs(KeyKind kind);
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Returns the controllers that are at work, in the order of their names.
  [[nodiscard]] std::vector<std::string> living() const;
  [[nodiscard]] std::vector<std::string> silent() const;
  // Returns the controllers that drive a rollout, a plan or desired versions now, each once.
  [[nodiscard]] std::set<std::string> driving() const;

 private:
  [[nodiscard]] bool lives(const std::string& name) const;

  std::set<std::string> known_;
  // the IDs of a controller's processes, by its name
  std::map<std::string, std::set<std::string>> lives_;
  // the name of each driver's controller, by the driver
  std::map<std::string, std::string> drivers_;
};

// Returns the name in the keys of a controller's records: the part of `name` before a colon, in
// small letters. `name` is the value of its --name, or HOST:PROCESS. Returns an empty text if a key
// cannot have that name; then the controller has no such records.
[[nodiscard]] std::string controller_record_name(const std::string& name);

}  // namespace fleet
