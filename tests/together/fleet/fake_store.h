// A fake of etcd in memory (FakeCell), and a client's connection to it (FakeStore), which adds the
// faults of real connections. Both use a simulated clock, which the test moves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fleet/store/store.h"
#include "tests/together/fleet/virtual_time.h"

namespace fleet {

// A fake of etcd. It has keys, revisions, leases, and a history that can be compacted. The fake
// answers immediately and never fails. It passes the same tests as real members of etcd.
class FakeCell {
 public:
  explicit FakeCell(VirtualTime& time) : time_(time) {}

  [[nodiscard]] Reading read(const Keys& keys) const;
  Outcome commit(const Transaction& transaction);

  Lease grant(std::chrono::seconds ttl);
  LeaseState keep_alive(LeaseId lease);
  LeaseState revoke(LeaseId lease);

  // Removes all changes up to this revision from the history, including the one at the revision.
  // The records themselves stay.
  void compact(Revision revision);

  // Returns the changes of `keys` from revision `from` on, for a watch. Returns no value if there
  // are none. Sets `from` so that the next call returns only later changes.
  [[nodiscard]] std::optional<WatchNews> news(const Keys& keys, Revision& from) const;
  // Registers `changed`, a function that is called whenever the watcher `who` may have new changes
  // to read.
  void have_watched(const void* who, std::function<void()> changed);
  void forget(const void* who) { watchers_.erase(who); }

  [[nodiscard]] Revision revision() const { return revision_; }

 private:
  struct Held {
    std::chrono::seconds ttl;
    Timers::Milliseconds ends;
    std::unique_ptr<Timer> timer;
  };
  struct Past {
    Revision revision;
    std::vector<Change> changes;
  };

  [[nodiscard]] bool holds(const Compare& compare) const;
  void expect_end(LeaseId id);
  void erase(const Keys& keys, Past& past);
  void enter(Past past);

  VirtualTime& time_;
  std::map<std::string, KeyValue, std::less<>> keys_;
  std::map<LeaseId, Held> leases_;
  std::vector<Past> history_;
  std::map<const void*, std::function<void()>> watchers_;
  Revision revision_ = 1;
  Revision compacted_ = 0;
  LeaseId next_lease_ = 7'000;
};

// How many of a thousand requests, answers or deliveries have each kind of fault.
struct Faults {
  unsigned lost_requests = 0;
  unsigned lost_answers = 0;
  // Late requests reach the store only after the client has given up.
  unsigned late_requests = 0;
  unsigned cut_watches = 0;  // how many deliveries fail and end the watch
};

// A client's connection to a FakeCell, with faults: requests and answers get lost or come late, and
// watches are cut off. The seed alone decides which requests, answers and watches fail.
class FakeStore : public Store {
 public:
  using Milliseconds = Timers::Milliseconds;
  // The time after which the client gives up an unanswered request.
  static constexpr Milliseconds deadline{5'000};
  // The longest time that a request or an answer takes to arrive. Late requests (Faults) take
  // longer.
  static constexpr Milliseconds travel_max{20};

  FakeStore(VirtualTime& time, FakeCell& cell, std::uint64_t seed = 0, Faults faults = {});
  ~FakeStore() override;

  void read(Keys keys, Then<Reply<Reading>> then) override;
  void commit(Transaction transaction, Then<Outcome> then) override;
  void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) override;
  void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) override;
  void revoke(LeaseId lease, Then<Reply<LeaseState>> then) override;
  [[nodiscard]] std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                             Then<const WatchNews&> tell) override;

  // Cuts the client off from the store, or connects it again. While the client is cut off, no
  // message passes in either direction, and the client's watches end within `deadline`.
  void set_reachable(bool reachable) { link_->reachable = reachable; }
  void set_faults(Faults faults) { link_->faults = faults; }

 private:
  class FakeWatch;
  // The state that messages in flight need. This state may outlive the FakeStore, since a message
  // may arrive after the FakeStore was destroyed.
  struct Link {
    Faults faults;
    std::mt19937_64 chance;
    bool reachable = true;
    bool open = true;

    [[nodiscard]] bool happens(unsigned of_a_thousand) { return chance() % 1'000 < of_a_thousand; }
    [[nodiscard]] Milliseconds travel() {
      return Milliseconds(
          1 + static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(travel_max.count())));
    }
  };

  template <class Value>
  struct Asked;

  template <class Value>
  void ask(std::function<Value(FakeCell&)> question, Value silence, Then<Value> then);

  VirtualTime& time_;
  FakeCell& cell_;
  std::shared_ptr<Link> link_;
};

}  // namespace fleet
