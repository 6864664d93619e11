// The store of the fleet's records: five deeds, and no more is asked of it, so that another engine
// than etcd stays possible. fleet/model knows the meaning of the records.
//
// Nothing here waits. Each answer is given exactly once, later, and never from within the call that
// asked; one that has not come when the store is destroyed never comes.
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

// Why there is no answer to a question. Nothing has been changed by it.
struct Trouble {
  enum class Kind {
    unreachable,  // nobody answered in time: may pass
    denied,       // this asker may not, or the question makes no sense: will not pass
  };

  Kind kind = Kind::unreachable;
  std::string reason = {};
};

template <class Value>
using Reply = std::variant<Value, Trouble>;

// A lease that somebody has to keep alive more often than `ttl`.
struct Lease {
  LeaseId id = 0;
  std::chrono::seconds ttl{0};
};

// The state of a lease that was to be kept alive or given back.
enum class LeaseState {
  alive,
  gone,  // it has ended, and every key that was bound to it is erased
};

// A key was written, or erased: then only `key` and `modified` are set.
struct Change {
  KeyValue now = {};
  bool erased = false;

  bool operator==(const Change&) const = default;
};

// The changes up to this revision, in order; those of one transaction stand together.
struct Changes {
  Revision revision = 0;
  std::vector<Change> changes = {};
};

// The watch has ended: changes that it was to tell have been forgotten. Read all, and watch from
// there.
struct Relist {
  Revision compacted = 0;
};

// The watch has ended: no leader, no answer, or no permission. Watch again from the revision behind
// the last one told.
struct WatchLost {
  Trouble trouble = {};
};

using WatchNews = std::variant<Changes, Relist, WatchLost>;

// Ends the watch when it is destroyed: nothing is told any more, not even what is on its way.
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

  // Everything that these keys are, at one revision, as the store's majority has it: never stale.
  virtual void read(Keys keys, Then<Reply<Reading>> then) = 0;

  // A put under a lease that has ended is Refused as well. A write that is Unknown may yet be done,
  // until the deadline that this store has for an answer has passed twice.
  virtual void commit(Transaction transaction, Then<Outcome> then) = 0;

  // At least this long; the store may make it longer.
  virtual void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) = 0;
  virtual void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) = 0;
  virtual void revoke(LeaseId lease, Then<Reply<LeaseState>> then) = 0;

  // Tells every change from this revision on, each once and in order, until the watch has ended by
  // Relist or WatchLost, or its owner has had enough. `tell` may destroy the watch.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                                     Then<const WatchNews&> tell) = 0;
};

}  // namespace fleet
