// Which fleet-controllers a cell has, and which of them are silent. A controller has two records:
// controller/NAME stays when it ends, and controller/NAME/life/ID is on a lease. So a controller
// with the first alone is silent. Pure.
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
  // Returns whether take() and take_absent() need the records of this kind; they ignore others.
  [[nodiscard]] static bool needs(KeyKind kind);
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Returns the controllers that are at work, in the order of their names.
  [[nodiscard]] std::vector<std::string> living() const;
  [[nodiscard]] std::vector<std::string> silent() const;
  // Returns the controllers that drive something now, each once.
  [[nodiscard]] std::set<std::string> driving() const;

 private:
  [[nodiscard]] bool lives(const std::string& name) const;

  std::set<std::string> known_;
  std::map<std::string, std::set<std::string>> lives_;  // the IDs of its processes, by its name
  std::map<std::string, std::string> drivers_;          // controllers, by what they drive
};

// Returns the name by which a controller has its records, or an empty text if it can have none.
// `name` is its --name, or HOST:PROCESS.
[[nodiscard]] std::string controller_record_name(const std::string& name);

}  // namespace fleet
