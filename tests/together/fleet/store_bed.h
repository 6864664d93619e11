// A store under test, with a clock: either the fake store and the test's own clock, or real members
// of etcd. Both pass the same tests.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet::test {

class StoreBed {
 public:
  StoreBed() = default;
  StoreBed(const StoreBed&) = delete;
  StoreBed& operator=(const StoreBed&) = delete;
  virtual ~StoreBed() = default;

  // Returns the first of two clients of the store. Faults disturb only the connection of this
  // client, not that of other().
  virtual Store& store() = 0;
  virtual Store& other() = 0;
  virtual Timers& timers() = 0;
  // Lets some milliseconds pass, in which the store and its client do their work.
  virtual void turn() = 0;

  // ---- faults
  virtual void compact(Revision revision) = 0;
  // Loses all answers to store() from now on. Its requests still arrive and are carried out.
  virtual void swallow_answers() = 0;
  // Ends the loss of answers, and all connections of store().
  virtual void break_connections() = 0;
  // Cuts store() off from all members, which refuse connections or are silent. `none` ends this.
  enum class Cut { none, refused, silent };
  virtual void cut(Cut how) = 0;

  // Returns a key that no other test uses, since all tests may share the same members.
  [[nodiscard]] std::string key(const std::string& name) const { return prefix_ + name; }

  // Lets time pass until the condition holds. Returns false if it does not hold within the limit.
  template <class Condition>
  [[nodiscard]] bool wait(Condition condition,
                          std::chrono::seconds limit = std::chrono::seconds(30)) {
    const auto end = timers().now() + limit;
    while (!condition()) {
      if (timers().now() > end) return false;
      turn();
    }
    return true;
  }
  // Lets the time `time` pass for the store and its client.
  void pass(std::chrono::milliseconds time);

  // ---- requests: most functions wait for the answer
  [[nodiscard]] Reply<Reading> read_answer(Store& store, const Keys& keys);
  // Reads by the client other(). Fails the test if no answer comes.
  [[nodiscard]] Reading read(const Keys& keys);
  // Begins a commit without waiting for its answer.
  using Pending = std::shared_ptr<std::optional<Outcome>>;
  [[nodiscard]] Pending begin_commit(Transaction transaction);
  // Returns the revision that the next change will have.
  [[nodiscard]] Revision next() { return read({key("nothing")}).revision + 1; }
  [[nodiscard]] Outcome commit(Store& store, const Transaction& transaction);
  [[nodiscard]] Outcome commit(const Transaction& transaction) {
    return commit(store(), transaction);
  }
  [[nodiscard]] Lease grant(std::chrono::seconds ttl);
  [[nodiscard]] LeaseState keep_alive(LeaseId lease);
  [[nodiscard]] LeaseState revoke(LeaseId lease);

 protected:
  std::string prefix_ = "/t/";
};

// Makes the bed that the program is linked with.
[[nodiscard]] std::unique_ptr<StoreBed> make_bed();

// ---- makers of transactions
[[nodiscard]] Transaction put(const std::string& key, const std::string& value, LeaseId lease = 0);
[[nodiscard]] Transaction erase(const std::string& key, bool subtree = false);
[[nodiscard]] Transaction given(Transaction transaction, const std::string& key, Revision revision);
[[nodiscard]] Transaction both(Transaction one, const Transaction& other);

// Returns the revision, or 0 if the transaction was not committed.
[[nodiscard]] Revision committed(const Outcome& outcome);

}  // namespace fleet::test
