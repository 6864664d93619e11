// A store in memory, exactly as a transaction's header says, for tests of the state machines: no
// faults, and leases that end when they are told to. Knows nothing of records.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/transaction.h"

namespace fleet_test {

class TestStore {
 public:
  fleet::Outcome commit(const fleet::Transaction& transaction);
  // Whether every compare holds, and every lease is alive.
  [[nodiscard]] bool would_commit(const fleet::Transaction& transaction) const;

  // What was written and erased by the last commit, at its revision.
  struct Change {
    fleet::KeyValue record;  // its value is empty where the key was erased
    bool erased = false;
  };
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  [[nodiscard]] fleet::Reading read(const std::vector<std::string>& prefixes) const;
  [[nodiscard]] const fleet::KeyValue* find(const std::string& key) const;
  [[nodiscard]] const std::map<std::string, fleet::KeyValue>& all() const { return records_; }
  [[nodiscard]] fleet::Revision revision() const { return revision_; }

  // As somebody who compares nothing.
  void put(const std::string& key, const std::string& value, fleet::LeaseId lease = 0);
  void erase(const std::string& key);
  // Erases what is on it; nothing can be put on it any more.
  void end_lease(fleet::LeaseId lease);

 private:
  std::map<std::string, fleet::KeyValue> records_;
  std::vector<Change> changes_;
  std::set<fleet::LeaseId> ended_;
  fleet::Revision revision_ = 1;
};

// `@7` by the rank of the number among all of the text.
[[nodiscard]] std::string by_rank(const std::string& text);

}  // namespace fleet_test
