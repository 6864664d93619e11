// A store for tests, with its clock and its faults. The store is either the fake store, whose clock
// the test moves, or real members of etcd. The same tests run on both.
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

  // Returns the first of the store's two clients. The faults below disturb only the connection of
  // this client. They never disturb the connection of the second client, other().
  virtual Store& store() = 0;
  virtual Store& other() = 0;
  virtual Timers& timers() = 0;
  // Lets some milliseconds pass, so that the store and its clients can work.
  virtual void turn() = 0;

  // ---- faults
  virtual void compact(Revision revision) = 0;
  // Drops all answers to the store's client from now on. (store() returns this client.) The
  // client's requests still arrive, and the store carries them out.
  virtual void swallow_answers() = 0;
  // Breaks all connections of the client store(). Also ends swallow_answers(): answers to this
  // client arrive again.
  virtual void break_connections() = 0;
  // Cuts the client store() off from all members of etcd. With `refused`, the members refuse its
  // connections; with `silent`, they do not answer. With `none`, the members can be reached again.
  enum class Cut { none, refused, silent };
  virtual void cut(Cut how) = 0;

  // Returns a key that no other test uses. All tests may share the same members of etcd, so each
  // test needs keys of its own.
  [[nodiscard]] std::string key(const std::string& name) const { return prefix_ + name; }

  // Lets time pass until the condition holds. Returns false if the condition still does not hold
  // when `limit` has passed.
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
  // Lets this time pass for the store and its clients.
  void pass(std::chrono::milliseconds time);

  // ---- requests to the store: all but begin_commit() wait for the answer
  [[nodiscard]] Reply<Reading> read_answer(Store& store, const Keys& keys);
  // Reads with the client other(). Fails the test if the store does not answer.
  [[nodiscard]] Reading read(const Keys& keys);
  using Pending = std::shared_ptr<std::optional<Outcome>>;
  // Sends a transaction without waiting for the answer. The returned object gets the answer later.
  [[nodiscard]] Pending begin_commit(Transaction transaction);
  // Returns the revision that the next transaction will get.
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

// Makes the store with which this test program is linked: the fake store, or real members of etcd.
[[nodiscard]] std::unique_ptr<StoreBed> make_bed();

// ---- functions that make transactions
[[nodiscard]] Transaction put(const std::string& key, const std::string& value, LeaseId lease = 0);
[[nodiscard]] Transaction erase(const std::string& key, bool subtree = false);
[[nodiscard]] Transaction given(Transaction transaction, const std::string& key, Revision revision);
[[nodiscard]] Transaction both(Transaction one, const Transaction& other);

// Returns the transaction's revision, or 0 if it was not committed.
[[nodiscard]] Revision committed(const Outcome& outcome);

}  // namespace fleet::test
