// A store in memory that follows the contract in transaction.h exactly, for tests of state
// machines. It has no faults, its leases end only when a test says so, and it does not know what
// records mean.
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
  // Returns whether every compare of the transaction holds, and every lease that it uses is alive.
  [[nodiscard]] bool would_commit(const fleet::Transaction& transaction) const;

  // A record that the last transaction wrote or erased, with the transaction's revision.
  struct Change {
    fleet::KeyValue record;  // the value is empty if the key was erased
    bool erased = false;
  };
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  [[nodiscard]] fleet::Reading read(const std::vector<std::string>& prefixes) const;
  [[nodiscard]] const fleet::KeyValue* find(const std::string& key) const;
  [[nodiscard]] const std::map<std::string, fleet::KeyValue>& all() const { return records_; }
  [[nodiscard]] fleet::Revision revision() const { return revision_; }

  // Writes without comparing anything.
  void put(const std::string& key, const std::string& value, fleet::LeaseId lease = 0);
  void erase(const std::string& key);
  // Erases the keys on this lease. The lease has ended then, and no key can be put on it any more.
  void end_lease(fleet::LeaseId lease);

 private:
  std::map<std::string, fleet::KeyValue> records_;
  std::vector<Change> changes_;
  std::set<fleet::LeaseId> ended_;
  fleet::Revision revision_ = 1;
};

// Finds all numbers after an `@`, such as 7 in `@7`. Returns the text with each number replaced by
// its rank among them. Texts that differ only in revisions become equal.
[[nodiscard]] std::string by_rank(const std::string& text);

}  // namespace fleet_test
