// Readings of the store, transactions that are written at once or not at all, and their outcomes:
// the seam between fleet/model, which makes transactions and never performs one, and fleet/store,
// which performs them and knows nothing of what they mean. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fleet {

// The store's number of a change: each committed transaction that changes anything gets the next.
// 0 is none: the revision of a key that is absent.
using Revision = std::int64_t;

// 0 is none: a key that stays until somebody erases it.
using LeaseId = std::int64_t;

// etcd's own limit (--max-txn-ops) of compares in a transaction, and of writes in it.
inline constexpr std::size_t operations_max = 128;
// A record's: see record.h.
inline constexpr std::size_t value_bytes_max = 65'536;
// Below etcd's limit of a request, 1.5 MiB (--max-request-bytes), with a third left for framing.
inline constexpr std::size_t transaction_bytes_max = 1'048'576;
// Keys are short by their rules (see keys.h); a longer one is a mistake.
inline constexpr std::size_t key_bytes_max = 512;

// A key as it was read.
struct KeyValue {
  std::string key = {};
  std::string value = {};
  Revision created = 0;   // when the key came into being
  Revision modified = 0;  // when its value was written last
  LeaseId lease = 0;

  bool operator==(const KeyValue&) const = default;
};

// The record of a key, among all that there are; null where there is none.
[[nodiscard]] inline const KeyValue* record_at(
    const std::map<std::string, KeyValue, std::less<>>& records, std::string_view key) {
  const auto at = records.find(key);
  return at == records.end() ? nullptr : &at->second;
}

// Everything that was read at one revision, in the order of the keys.
struct Reading {
  Revision revision = 0;
  std::vector<KeyValue> found = {};

  // The key's record; none where it was absent.
  [[nodiscard]] const KeyValue* find(std::string_view key) const;

  bool operator==(const Reading&) const = default;
};

// Makes one reading of the records that several requests have found: sorts them by their keys, and
// keeps the first of those with the same key.
void put_in_order(Reading& reading);

// Holds while the key was last written, or created, at just that revision; 0: while it is absent.
struct Compare {
  enum class Of { modified, created };

  std::string key = {};
  Of of = Of::modified;
  Revision revision = 0;

  bool operator==(const Compare&) const = default;
};

struct Put {
  std::string key = {};
  std::string value = {};
  LeaseId lease = 0;  // the key is erased when that ends

  bool operator==(const Put&) const = default;
};

struct Erase {
  std::string key = {};
  bool subtree = false;  // every key that begins with `key`, which then ends in `/`

  bool operator==(const Erase&) const = default;
};

// All compares hold, in one moment: then all is written, at one revision. Otherwise nothing is.
// Without writes it is a question, answered by the store's majority.
struct Transaction {
  std::vector<Compare> compares = {};
  std::vector<Put> puts = {};
  std::vector<Erase> erases = {};

  bool operator==(const Transaction&) const = default;
};

// Written, at that revision; for a question: the compares held, as of that revision.
struct Committed {
  Revision revision = 0;

  bool operator==(const Committed&) const = default;
};

// A compare did not hold, or a lease that a put names has ended: nothing was written.
struct Refused {
  bool operator==(const Refused&) const = default;
};

// No answer came: it may have been written, or not, or be written still while the asker waits. The
// asker reads again, compares, and goes on from there.
struct Unknown {
  std::string reason = {};

  bool operator==(const Unknown&) const = default;
};

// Refused for good, and not by a compare: no permission, no space, damage, or a transaction that
// the store does not take. Nothing was written, and asking again will not help.
struct Denied {
  std::string reason = {};

  bool operator==(const Denied&) const = default;
};

using Outcome = std::variant<Committed, Refused, Unknown, Denied>;

// Why a store may not take the transaction: too many operations, too many bytes, a key that is
// written twice (etcd refuses that), an empty key. No value if it may.
[[nodiscard]] std::optional<std::string> why_not_taken(const Transaction& transaction);

// As people read it in a test's message or a log: `if a@4 b@absent: put c, erase d/*`.
[[nodiscard]] std::string words(const Transaction& transaction);
[[nodiscard]] std::string words(const Outcome& outcome);

}  // namespace fleet
