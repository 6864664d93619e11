// Writes something new, such as a plan, that takes several transactions, one after the other.
// Before each transaction the store is read, and the records in it tell what is left to write. So
// it does not matter if the answer to the transaction before was lost, nor which process began.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "fleet/model/record_text.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The part of the new rollout or plan that is in the store already.
template <class Record>
struct Written {
  Record record = {};
  Revision revision = 0;
};

class Creation {
 public:
  // All records are written, and the new rollout or plan begins.
  struct Begun {};
  // The new rollout or plan does not begin, for this reason. If `is_known` is false, this is not
  // certain, and it may still begin.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  virtual ~Creation() = default;

  // Returns the key that has to be read before each next().
  [[nodiscard]] const std::string& key() const { return key_; }

  // Returns the next step. `found` is the record at key() now (null if there is none), `last` is
  // the outcome of the transaction that next() returned last (null if it has returned none).
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 protected:
  // `refusal` tells people what may be the cause if the store refuses a transaction.
  Creation(std::string key, std::string refusal)
      : key_(std::move(key)), refusal_(std::move(refusal)) {}
  Creation(const Creation&) = default;
  Creation(Creation&&) = default;
  Creation& operator=(const Creation&) = default;
  Creation& operator=(Creation&&) = default;

  // Returns the next transaction if `found` is the record at key(), or std::nullopt if all is
  // written. Returns a Refusal if somebody else has written that record under the same name.
  [[nodiscard]] virtual agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const = 0;

  // Finds out whether an earlier transaction has written `wanted`: the record `found` has the same
  // trace then. Returns that record, or std::nullopt if nothing is written. If `found` belongs to
  // another order, returns a Refusal with the text `if_others`.
  template <class Record>
  [[nodiscard]] static agent_protocol::Result<std::optional<Written<Record>>> written_of(
      const Record& wanted, const KeyValue* found, const std::string& if_others) {
    if (found == nullptr) return std::optional<Written<Record>>();
    const auto record = read_record<Record>(found->value);
    if (record && record.value().trace == wanted.trace)
      return std::optional(Written<Record>{record.value(), found->modified});
    return agent_protocol::Refusal{if_others};
  }

 private:
  std::string key_;
  std::string refusal_;
  Revision before_ = 0;  // revision of the record at key() at the last transaction
};

}  // namespace fleet
