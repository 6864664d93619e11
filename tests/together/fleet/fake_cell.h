// A fake of etcd in memory. It has keys, revisions, leases, and a history that can be compacted. It
// answers at once and never fails: FakeStore adds the faults of the connection between a client and
// this fake. The fake passes the same tests as real members of etcd.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/store/store.h"
#include "tests/together/fleet/virtual_time.h"

namespace fleet {

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

  // Returns the changes since revision `from` for a watch, and sets `from` to the revision after
  // them. Returns no value if there are no changes.
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

}  // namespace fleet
