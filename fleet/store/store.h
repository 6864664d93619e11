// The store of the fleet's records. The interface has only six operations, so that another store
// can replace etcd. fleet/model knows the meaning of the records.
//
// No function here blocks. Each answer comes exactly once, later, and never from within the call
// that asked for it. If the store is destroyed, open answers never come.
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

// The reason why a request got no answer. The request has changed nothing.
struct Trouble {
  enum class Kind {
    unreachable,  // no answer came in time; a later try may succeed
    denied,       // no permission, or a wrong request; a later try fails, too
  };

  Kind kind = Kind::unreachable;
  std::string reason = {};
};

template <class Value>
using Reply = std::variant<Value, Trouble>;

// A lease. It ends if its holder does not renew it within the time `ttl`.
struct Lease {
  LeaseId id = 0;
  std::chrono::seconds ttl{0};
};

// The state of a lease after keep_alive() or revoke().
enum class LeaseState {
  alive,
  gone,  // the lease has ended, and all keys that had it are erased
};

// A key was written or erased. If the key was erased, `now` has only its `key` and `modified`.
struct Change {
  KeyValue now = {};
  bool erased = false;

  bool operator==(const Change&) const = default;
};

// The changes up to this revision, in their order. Changes of one transaction follow each other.
struct Changes {
  Revision revision = 0;
  std::vector<Change> changes = {};
};

// The watch has ended, since the store no longer has all changes from `from` on. The caller must
// read everything again, and watch from the revision of that reading.
struct Relist {
  Revision compacted = 0;
};

// The watch has ended, since the store had no leader, did not answer, or refused permission. The
// caller must begin another watch at the revision after that of the last change.
struct WatchLost {
  Trouble trouble = {};
};

using WatchNews = std::variant<Changes, Relist, WatchLost>;

// A watch ends when this object is destroyed. After that, no change is reported, not even one that
// has arrived already.
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

  // Reads all records of these keys, at one revision. A majority of the members confirms the
  // reading, so it includes everything that was written before the call.
  virtual void read(Keys keys, Then<Reply<Reading>> then) = 0;

  // Carries out a transaction. If a put has a lease that has ended, the store refuses the
  // transaction. If the outcome is Unknown, the write may still happen later, but only within twice
  // the time limit for an answer.
  virtual void commit(Transaction transaction, Then<Outcome> then) = 0;

  // Requests a lease of at least `ttl`; the store may make it longer.
  virtual void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) = 0;
  virtual void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) = 0;
  virtual void revoke(LeaseId lease, Then<Reply<LeaseState>> then) = 0;

  // Calls `tell` for all changes from the revision `from` on, each once and in order. The watch
  // ends by Relist or WatchLost, or when it is destroyed. `tell` may destroy it.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                                     Then<const WatchNews&> tell) = 0;
};

}  // namespace fleet
