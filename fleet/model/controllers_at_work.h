// This file lists the fleet-controllers of a cell, and finds those that are silent. A controller
// has two records. The record controller/NAME stays when the controller exits. The record
// controller/NAME/life/ID has a lease, so it vanishes when the controller exits. A controller that
// has only the first record is called silent. This file does no input or output.
//
// Older versions of fleet-controller do not write these records. A controller of such a version is
// listed only while it drives something, such as a rollout.
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
  // Returns whether take() and take_absent() use records of this kind. Both ignore all other
  // records.
  [[nodiscard]] static bool needs(KeyKind kind);
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Returns the controllers that are at work, in the order of their names.
  [[nodiscard]] std::vector<std::string> living() const;
  [[nodiscard]] std::vector<std::string> silent() const;
  // Returns the controllers that drive something now, such as a rollout, a plan or the history, and
  // therefore have a record driver/ID. Each controller occurs once.
  [[nodiscard]] std::set<std::string> driving() const;

 private:
  [[nodiscard]] bool lives(const std::string& name) const;

  std::set<std::string> known_;
  // For each controller, by its name, the IDs of its processes.
  std::map<std::string, std::set<std::string>> lives_;
  // For each driver, by its ID, the name of its controller.
  std::map<std::string, std::string> drivers_;
};

// Returns the name of a controller in the keys of its records: the part of `name` before a colon,
// in lowercase. `name` is the value of the controller's --name, or HOST:PROCESS. Returns an empty
// string if this part is not valid in a key. The controller then has no record controller/NAME, and
// no record controller/NAME/life/ID.
[[nodiscard]] std::string controller_record_name(const std::string& name);

}  // namespace fleet
