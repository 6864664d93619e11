// The store of the fleet's records. It has only five operations, so that an engine other than etcd
// can replace it. fleet/model knows the meaning of the records.
//
// No function here blocks. Each answer is given exactly once, later, and never from within the call
// that asked. An answer that has not come when the store is destroyed never comes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/transaction.h"

namespace fleet {

// One key, or every key that begins with `key`.
struct Keys {
  std::string key = {};
  bool below = false;

  [[nodiscard]] bool have(std::string_view name) const {
    return below ? name.starts_with(key) : name == key;
  }
  bool operator==(const Keys&) const = default;
};

// The reason why a question has no answer. The question has changed nothing.
struct Trouble {
  enum class Kind {
    unreachable,  // no answer came in time; this may pass
    denied,       // the asker has no right to this, or the question is wrong; this will not pass
  };

  Kind kind = Kind::unreachable;
  std::string reason = {};
};

template <class Value>
using Reply = std::variant<Value, Trouble>;

// A lease. Its holder has to keep it alive more often than every `ttl`.
struct Lease {
  LeaseId id = 0;
  std::chrono::seconds ttl{0};
};

// The state of a lease after keep_alive() or revoke().
enum class LeaseState {
  alive,
  gone,  // it has ended, and every key that was bound to it is erased
};

// A key was written or erased. If it was erased, only `key` and `modified` of `now` are set.
struct Change {
  KeyValue now = {};
  bool erased = false;

  bool operator==(const Change&) const = default;
};

// The changes up to this revision, in order. The changes of one transaction are adjacent.
struct Changes {
  Revision revision = 0;
  std::vector<Change> changes = {};
};

// The watch has ended, since the store has forgotten changes that it should have told. The caller
// must read everything again, and watch from that revision.
struct Relist {
  Revision compacted = 0;
};

// The watch has ended: the store had no leader, gave no answer, or refused permission. The caller
// must watch again from the revision after the last one told.
struct WatchLost {
  Trouble trouble = {};
};

using WatchNews = std::variant<Changes, Relist, WatchLost>;

// Ends the watch when it is destroyed. After that nothing is told, not even a change that has
// arrived already.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;
};

class Store {
 public:
  template <class Value>
  using Then = std::function<void(Value)>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // Reads all records of these keys at one revision. The read is linearizable: a majority of the
  // members confirms it, so the answer is never stale.
  virtual void read(Keys keys, Then<Reply<Reading>> then) = 0;

  // Performs a transaction. A put with a lease that has ended is refused. A write whose outcome is
  // Unknown may still happen, until the time that this store waits for an answer has passed twice.
  virtual void commit(Transaction transaction, Then<Outcome> then) = 0;

  // Asks for a lease of at least `ttl`; the store may make it longer.
  virtual void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) = 0;
  virtual void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) = 0;
  virtual void revoke(LeaseId lease, Then<Reply<LeaseState>> then) = 0;

  // Tells every change from the revision `from` on, each once and in order, until the watch ends by
  // Relist or WatchLost or is destroyed. `tell` may destroy the watch.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                                     Then<const WatchNews&> tell) = 0;
};

}  // namespace fleet
