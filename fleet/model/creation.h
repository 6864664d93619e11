// This file writes a new rollout or plan, which takes several transactions, one after the other.
// Before each transaction, the caller reads the store, so that the transaction writes only records
// that are still missing. Therefore a process can continue after the store's answer was lost, or
// after another process has begun to write the same rollout or plan. This file does no input or
// output.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/result.h"
#include "fleet/model/record_text.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The record of the new rollout or plan as it is in the store, with its revision.
template <class Record>
struct Written {
  Record record = {};
  Revision revision = 0;
};

class Creation {
 public:
  // All records are written, so the new rollout or plan begins. There is no next step.
  struct Begun {};
  // The new rollout or plan was not begun, and this structure says why. There is no next step. If
  // `is_known` is false, the store has not answered, so the rollout or plan may have begun after
  // all.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  virtual ~Creation() = default;

  // Returns the key that has to be read before each call of next().
  [[nodiscard]] const std::string& key() const { return key_; }

  // Returns the next step. `found` is the record that is now at the key which key() returned, or
  // null if there is none. `last` is the outcome of the last transaction that next() returned, or
  // null if it has returned none.
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 protected:
  // `refusal` is the error message to show if the store refuses a transaction. It names the likely
  // cause.
  Creation(std::string key, std::string refusal)
      : key_(std::move(key)), refusal_(std::move(refusal)) {}
  Creation(const Creation&) = default;
  Creation(Creation&&) = default;
  Creation& operator=(const Creation&) = default;
  Creation& operator=(Creation&&) = default;

  // Returns the next transaction, or std::nullopt if all records are written. `found` is the record
  // at key(). If `found` belongs to another rollout or plan of the same name, returns a Refusal.
  [[nodiscard]] virtual agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const = 0;

  // Returns the record `found` if an earlier transaction of the same order has written it. `found`
  // then has the same trace (the id of the person's order) as `wanted`. Returns std::nullopt if
  // `found` is null, since nothing is written yet. If `found` belongs to another order, or cannot
  // be read, returns a Refusal with the text `if_others`.
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
  Revision before_ = 0;  // revision of the record at key(), before the last transaction
};

inline Creation::Next Creation::next(const KeyValue* found, const Outcome* last) {
  const Denied* denied = last == nullptr ? nullptr : std::get_if<Denied>(last);
  if (denied != nullptr) return NotBegun{denied->reason};
  auto transaction = what_is_left(found);
  if (!transaction) return NotBegun{transaction.reason()};
  const Revision now = found == nullptr ? 0 : found->modified;
  if (last != nullptr && now == before_) {
    const auto* unknown = std::get_if<Unknown>(last);
    if (unknown == nullptr) return NotBegun{refusal_};
    return NotBegun{"it cannot be known whether it will begin: " + unknown->reason,
                    /*is_known=*/false};
  }
  before_ = now;
  if (!transaction.value()) return Begun{};
  if (const auto why = why_not_taken(*transaction.value())) return NotBegun{*why};
  return std::move(*transaction.value());
}

}  // namespace fleet
