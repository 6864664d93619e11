// A store under test and the time that it lives in: the fake one with a clock of its own, or real
// members of etcd. What is tested is the same.
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

  // Two clients: what may go wrong is on the first one's way only.
  virtual Store& store() = 0;
  virtual Store& other() = 0;
  virtual Timers& timers() = 0;
  // Lets a little happen.
  virtual void turn() = 0;

  // ---- what may go wrong
  virtual void compact(Revision revision) = 0;
  // From now on what store() asks is done, and no answer reaches it.
  virtual void swallow_answers() = 0;
  // Ends that, and every connection of store().
  virtual void break_connections() = 0;
  // store() reaches nobody, until it is allowed to again.
  enum class Cut { none, refused, silent };
  virtual void cut(Cut how) = 0;

  // Keys of this bed alone: others may have used the same members.
  [[nodiscard]] std::string key(const std::string& name) const { return prefix_ + name; }

  // Lets things happen until the condition holds. False: it never did, within this time.
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
  // Lets so much time pass, whatever happens in it.
  void pass(std::chrono::milliseconds time);

  // ---- questions, with their answers waited for
  [[nodiscard]] Reply<Reading> read_answer(Store& store, const Keys& keys);
  [[nodiscard]] Reading read(const Keys& keys);  // by the other client, and it must be answered
  // The same, not waited for.
  using Pending = std::shared_ptr<std::optional<Outcome>>;
  [[nodiscard]] Pending begin_commit(Transaction transaction);
  // The revision that the next change will have.
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

// Whichever the program was linked with.
[[nodiscard]] std::unique_ptr<StoreBed> make_bed();

// ---- transactions in few words
[[nodiscard]] Transaction put(const std::string& key, const std::string& value, LeaseId lease = 0);
[[nodiscard]] Transaction erase(const std::string& key, bool subtree = false);
[[nodiscard]] Transaction given(Transaction transaction, const std::string& key, Revision revision);
[[nodiscard]] Transaction both(Transaction one, const Transaction& other);

// 0: it was not committed.
[[nodiscard]] Revision committed(const Outcome& outcome);

}  // namespace fleet::test
