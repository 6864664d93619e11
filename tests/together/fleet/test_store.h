// A store in memory, for tests of state machines. The store follows the contract in transaction.h
// exactly, and has no faults. A lease ends only when the test ends it. The store does not interpret
// the values of records. DriverWork carries out a driver's actions on this store.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/model/drivers/driver_events.h"
#include "fleet/model/records/transaction.h"

namespace fleet_test {

class TestStore {
 public:
  fleet::Outcome commit(const fleet::Transaction& transaction);
  // Returns whether the store would commit the transaction now: every compare holds, and no lease
  // of the transaction has ended.
  [[nodiscard]] bool would_commit(const fleet::Transaction& transaction) const;

  // One change of the last transaction: a record that was written, or a key that was erased.
  // `record` has the transaction's revision.
  struct Change {
    fleet::KeyValue record;  // without a value if the key was erased
    bool erased = false;
  };
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  [[nodiscard]] fleet::Reading read(const std::vector<std::string>& prefixes) const;
  [[nodiscard]] const fleet::KeyValue* find(const std::string& key) const;
  [[nodiscard]] const std::map<std::string, fleet::KeyValue>& all() const { return records_; }
  [[nodiscard]] fleet::Revision revision() const { return revision_; }

  // Writes the record without comparing any revision.
  void put(const std::string& key, const std::string& value, fleet::LeaseId lease = 0);
  void erase(const std::string& key);
  // Ends the lease and erases its keys. Later transactions cannot put a key on this lease.
  void end_lease(fleet::LeaseId lease);

 private:
  std::map<std::string, fleet::KeyValue> records_;
  std::vector<Change> changes_;
  std::set<fleet::LeaseId> ended_;
  fleet::Revision revision_ = 1;
};

// Returns the text with each number after an `@` replaced by its rank among all such numbers: `@9
// @4 @9` becomes `@1 @0 @1`, for example. In this way, texts that differ only in revisions become
// equal.
[[nodiscard]] std::string by_rank(const std::string& text);

// A store, and the actions of a driver that are still to be carried out on it.
struct DriverWork {
  TestStore store;
  fleet::DriverActions asked;     // actions that are not carried out yet
  std::vector<std::string> told;  // the driver's log lines

  // Adds the driver's log lines to `told`, and all other actions to `asked`.
  void take(fleet::DriverActions actions) {
    for (fleet::DriverAction& action : actions) {
      if (const auto* words = std::get_if<fleet::Tell>(&action)) {
        told.push_back(words->text);
      } else {
        asked.push_back(std::move(action));
      }
    }
  }

  // Carries out the actions until none is left. Calls `sees` with each action before it is carried
  // out, and `tell` with its outcome.
  void settle(
      const std::function<void(const fleet::DriverEvent&)>& tell,
      const std::function<void(const fleet::DriverAction&)>& sees = [](const auto&) {}) {
    while (!asked.empty()) {
      const fleet::DriverAction action = asked.front();
      asked.erase(asked.begin());
      sees(action);
      if (const auto* commit = std::get_if<fleet::Commit>(&action)) {
        tell(fleet::TransactionEnded{store.commit(commit->transaction)});
      } else if (const auto* reading = std::get_if<fleet::WantReading>(&action)) {
        tell(fleet::ReadingEnded{store.read(reading->prefixes)});
      } else if (std::holds_alternative<fleet::GrantLease>(action)) {
        tell(fleet::LeaseGranted{7});
      }
    }
  }
};

// A store, a driver, and a clock that the test moves. settle(), and each function that calls it,
// ends when the driver has no action left.
template <class Driver>
struct DriverBench : DriverWork {
  Driver driver;
  fleet::Ms now = 0;
  // Called with each action of the driver before it is carried out.
  std::function<void(const fleet::DriverAction&)> sees = [](const auto&) {};

  explicit DriverBench(Driver begun) : driver(std::move(begun)) {}

  // Tells the driver an event, and carries out no action.
  void tell(const fleet::DriverEvent& event) { take(driver.step(event, now)); }
  void settle() {
    DriverWork::settle([this](const fleet::DriverEvent& event) { tell(event); }, sees);
  }
  void begin(std::optional<fleet::UnixSeconds> wall = {}) {
    tell(fleet::BeginDriving{wall});
    settle();
  }
  // Writes or erases a record, as somebody else does, and tells the driver.
  void put(const std::string& key, const std::string& value) {
    store.put(key, value);
    tell(fleet::KeyChanged{*store.find(key)});
    settle();
  }
  void erase(const std::string& key) {
    store.erase(key);
    tell(fleet::KeyErased{key, store.revision()});
    settle();
  }
};

}  // namespace fleet_test
