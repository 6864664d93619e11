// This file lists the fleet-controllers of a cell, and finds those that are silent. A controller
// has two records. The record controller/NAME stays when the controller exits. The record
// controller/NAME/life/ID has a lease, so the store erases it soon after the controller has exited
// or died. A controller that has only the first record is called silent. This file does no input or
// output.
//
// Older versions of fleet-controller do not write these records. A controller of such a version is
// listed only while it drives something, such as a rollout.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

class ControllersAtWork {
 public:
  // Returns whether take() and take_absent() use records of this kind. Records of all other kinds
  // are ignored.
  [[nodiscard]] static bool needs(KeyKind kind);
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Returns the controllers that are at work, in the order of their names.
  [[nodiscard]] std::vector<std::string> living() const;
  [[nodiscard]] std::vector<std::string> silent() const;
  // Returns the controllers that drive something now, such as a rollout, a plan or the history.
  // Such a controller has a record driver/ID. Each controller occurs once.
  [[nodiscard]] std::set<std::string> driving() const;

 private:
  [[nodiscard]] bool lives(const std::string& name) const;

  std::set<std::string> known_;
  // For each controller that runs, by its name: the IDs of its processes.
  std::map<std::string, std::set<std::string>> lives_;
  // For each record driver/ID, by its ID: the name of the controller in the record.
  std::map<std::string, std::string> drivers_;
};

// Returns the part of a controller's name that is in the keys controller/NAME and
// controller/NAME/life/ID: the part of `name` before a colon, in lowercase. `name` is the value of
// the controller's option --name, or HOST:PROCESS without this option. Returns an empty string if
// this part is not valid in a key; the controller then has neither record.
[[nodiscard]] std::string controller_record_name(const std::string& name);

}  // namespace fleet
