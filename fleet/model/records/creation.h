// This file decides how a new rollout or plan is written into the store, in several transactions,
// one after the other. Before each transaction, the caller reads the store, so that the transaction
// writes only records that are still missing. Therefore the caller can continue after an answer of
// the store was lost, and one process can continue the work of another. This file does no input or
// output.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/result.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The record of the new rollout or plan as it is in the store, with its revision.
template <class Record>
struct Written {
  Record record = {};
  Revision revision = 0;
};

class Creation {
 public:
  // The step that says that the new rollout or plan begins, since all its records are written. No
  // step follows.
  struct Begun {};
  // The step that says why the new rollout or plan does not begin. No step follows. If `is_known`
  // is false, the store has not answered, so the rollout or plan may begin after all.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  virtual ~Creation() = default;

  // Returns the key that the caller reads before each call of next().
  [[nodiscard]] const std::string& key() const { return key_; }

  // Returns the next step. `found` is the record that the caller has just read at key(), or null if
  // there is none. `last` is the outcome of the last transaction that next() returned, or null if
  // next() has returned none.
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 protected:
  // `refusal` is the error message for a transaction that the store refuses. The message names the
  // likely cause.
  Creation(std::string key, std::string refusal)
      : key_(std::move(key)), refusal_(std::move(refusal)) {}
  Creation(const Creation&) = default;
  Creation(Creation&&) = default;
  Creation& operator=(const Creation&) = default;
  Creation& operator=(Creation&&) = default;

  // Returns the next transaction, or no value if all records are written. `found` is the record at
  // key(), or null. If `found` belongs to another rollout or plan of the same name, returns a
  // Refusal.
  [[nodiscard]] virtual agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const = 0;

  // Returns the record in `found`, or std::nullopt if `found` is null: nothing is written yet.
  // Returns a Refusal with the text `if_others` if the record cannot be read, or if another order
  // has written it. The orders are compared by their ids (`trace`).
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
  Revision before_ = 0;  // the revision of the record at key() before the last transaction
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
