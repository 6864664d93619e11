// Defines the interface of the store, the database with the fleet's records. It has only six
// operations, so that another database can replace etcd. fleet/model defines what the records mean.
//
// No function blocks. Each except watch() calls its callback exactly once, after it has returned.
// The destructor drops all outstanding callbacks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/records/transaction.h"

namespace fleet {

// One key or, if `below` is true, every key that begins with `key`.
struct Keys {
  std::string key = {};
  bool below = false;

  [[nodiscard]] bool have(std::string_view name) const {
    return below ? name.starts_with(key) : name == key;
  }
  bool operator==(const Keys&) const = default;
};

// The reason why a request has failed.
struct Trouble {
  enum class Kind {
    unreachable,  // no answer came in time; a later try may succeed
    denied,       // no permission, or a wrong request; a later try also fails
  };

  Kind kind = Kind::unreachable;
  std::string reason = {};
};

template <class Value>
using Reply = std::variant<Value, Trouble>;

// The store ends a lease that its owner does not renew within the time `ttl`, and then erases the
// keys that are attached to the lease.
struct Lease {
  LeaseId id = 0;
  std::chrono::seconds ttl{0};
};

// The state of a lease after keep_alive() or revoke().
enum class LeaseState {
  alive,
  gone,  // the lease has ended, and its keys were erased
};

// One change: a key was written or erased. For an erased key, only the members `key` and `modified`
// of `now` are set.
struct Change {
  KeyValue now = {};
  bool erased = false;

  bool operator==(const Change&) const = default;
};

// Changes up to this revision, in their order. Changes of one transaction are adjacent.
struct Changes {
  Revision revision = 0;
  std::vector<Change> changes = {};
};

// The watch has ended, since the store has removed changes that it should report. The caller must
// read all records again, and begin a new watch after the revision of that reading.
struct Relist {};

// The watch has ended, since the store had no leader, did not answer, or denied permission. The
// caller must begin a new watch after the last reported change.
struct WatchLost {
  Trouble trouble = {};
};

using WatchNews = std::variant<Changes, Relist, WatchLost>;

// A watch. The destructor ends it: even a change that has already arrived is not reported any more.
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

  // Reads all records with these keys, at one revision. A majority of the members confirms the
  // result, so it includes everything that was written before the call.
  virtual void read(Keys keys, Then<Reply<Reading>> then) = 0;

  // Carries out a transaction. The store refuses it if the lease of a put has ended. If the outcome
  // is Unknown, the store may still carry out the transaction, within twice the time limit for an
  // answer.
  virtual void commit(Transaction transaction, Then<Outcome> then) = 0;

  // Requests a lease of at least `ttl`. The store may grant a longer one.
  virtual void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) = 0;
  virtual void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) = 0;
  virtual void revoke(LeaseId lease, Then<Reply<LeaseState>> then) = 0;

  // Calls `tell` with each change from the revision `from` on, once and in order. The watch ends
  // with a Relist or WatchLost, or when the returned object is destroyed, which `tell` may do.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                                     Then<const WatchNews&> tell) = 0;
};

// ---- the machines that run the store

// One member of the store, as the list of all members describes it.
struct StoreMember {
  std::uint64_t id = 0;
  std::string name = {};               // empty until the member has started for the first time
  std::vector<std::string> urls = {};  // the addresses for clients; empty until the first start
};

// The state of one member, as the member itself reports it.
struct MemberStatus {
  std::uint64_t id = 0;
  std::string version = {};
  std::int64_t database_bytes = 0;
  std::int64_t used_bytes = 0;
  bool leads = false;
  bool has_leader = false;
  // the member's alarms, such as a full database
  std::vector<std::string> errors = {};
};

}  // namespace fleet
