// Readings of the store, transactions, and outcomes of transactions, as plain data. Code in
// fleet/model makes transactions, and never carries them out. Code in fleet/store carries
// transactions out, and does not know their meaning.
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

// The store's count of changes: each committed transaction that writes gets the next number. An
// absent key has the revision 0.
using Revision = std::int64_t;

// The number of a lease. 0 stands for no lease: the key stays until somebody erases it.
using LeaseId = std::int64_t;

// A transaction may have at most this many compares, and at most this many writes: the default of
// etcd's option --max-txn-ops.
inline constexpr std::size_t operations_max = 128;
// The limit for a record's text: see record_text.h.
inline constexpr std::size_t value_bytes_max = 65'536;
// The limit for a transaction: two thirds of etcd's limit for a request, which is 1.5 MiB
// (--max-request-bytes). The last third is for the other parts of the request.
inline constexpr std::size_t transaction_bytes_max = 1'048'576;
// The limit for a key. By the rules of keys.h all keys are shorter, so a longer key is a mistake.
inline constexpr std::size_t key_bytes_max = 512;

// A key and its value, as they were read from the store.
struct KeyValue {
  std::string key = {};
  std::string value = {};
  Revision created = 0;   // the revision at which the key was created
  Revision modified = 0;  // the revision at which its value was last written
  LeaseId lease = 0;

  bool operator==(const KeyValue&) const = default;
};

// Returns the record of a key among all records, or null if there is none.
[[nodiscard]] inline const KeyValue* record_at(
    const std::map<std::string, KeyValue, std::less<>>& records, std::string_view key) {
  const auto at = records.find(key);
  return at == records.end() ? nullptr : &at->second;
}

// The records that were read at one revision, in the order of their keys.
struct Reading {
  Revision revision = 0;
  std::vector<KeyValue> found = {};

  // Returns the key's record, or null if the key was absent.
  [[nodiscard]] const KeyValue* find(std::string_view key) const;

  bool operator==(const Reading&) const = default;
};

// Sorts the records of a reading by key. If several requests have returned the same key, keeps its
// first record.
void put_in_order(Reading& reading);

// A condition on a key. If `of` is `modified`, the condition holds if the key was last written at
// exactly the revision `revision`. If `of` is `created`, the condition holds if the key was created
// at that revision. If `revision` is 0, the condition holds if the key is absent.
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
  LeaseId lease = 0;  // the key is erased when this lease ends

  bool operator==(const Put&) const = default;
};

struct Erase {
  std::string key = {};
  bool subtree = false;  // erases every key that begins with `key`, which then ends in `/`

  bool operator==(const Erase&) const = default;
};

// A transaction: if all compares hold, the store makes all writes (puts and erases), at one
// revision; otherwise it makes none. A transaction without writes only asks whether its compares
// hold. A majority of the store's members confirms the answer, so the answer is never out of date.
struct Transaction {
  std::vector<Compare> compares = {};
  std::vector<Put> puts = {};
  std::vector<Erase> erases = {};

  bool operator==(const Transaction&) const = default;
};

// The transaction was committed at the revision `revision`. If it had no writes, all its compares
// held at that revision.
struct Committed {
  Revision revision = 0;

  bool operator==(const Committed&) const = default;
};

// The store wrote nothing: a compare did not hold, or a lease that a put names has ended.
struct Refused {
  bool operator==(const Refused&) const = default;
};

// No answer came from the store. The transaction may have been committed, or may still be committed
// later. The caller must read the records again to find out what has changed.
struct Unknown {
  std::string reason = {};

  bool operator==(const Unknown&) const = default;
};

// The store refused the transaction for a reason that has to be mended first: a missing permission,
// a full or damaged store, or a fault of the transaction itself. The store wrote nothing.
struct Denied {
  std::string reason = {};

  bool operator==(const Denied&) const = default;
};

using Outcome = std::variant<Committed, Refused, Unknown, Denied>;

// Returns why every store would deny the transaction: too many operations, too many bytes, a key
// that is written twice, or an empty key. Returns no value if there is no such reason.
[[nodiscard]] std::optional<std::string> why_not_taken(const Transaction& transaction);

// Returns the transaction as a string, for the log and for messages of tests, such as `if a@4
// b@absent: put c=1 erase d/*`. Here a@4 means that the key `a` has the revision 4.
[[nodiscard]] std::string words(const Transaction& transaction);
[[nodiscard]] std::string words(const Outcome& outcome);

}  // namespace fleet
