// How something new is written that takes several transactions: one after the other, whoever begins
// it. Before each one the store is read, and what stands there says what is left to be written; so
// it does not matter where the answer to the one before was lost. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "fleet/model/record_text.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The part of it that stands in the store already.
template <class Record>
struct Written {
  Record record = {};
  Revision revision = 0;
};

class Creation {
 public:
  // All of it is written, and it begins.
  struct Begun {};
  // It will not begin, for this reason; or, where that is not known, it may still.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  virtual ~Creation() = default;

  // The key to be read before each next().
  [[nodiscard]] const std::string& key() const { return key_; }

  // `found` is what stands at key() now (null: nothing), `last` what came of the transaction that
  // was given last (null: none was).
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 protected:
  // `refusal` says, for people, what may be the cause where the store refuses a transaction.
  Creation(std::string key, std::string refusal)
      : key_(std::move(key)), refusal_(std::move(refusal)) {}
  Creation(const Creation&) = default;
  Creation(Creation&&) = default;
  Creation& operator=(const Creation&) = default;
  Creation& operator=(Creation&&) = default;

  // The next transaction where `found` stands at key(); none: all of it is written. Refused: what
  // stands there was written by somebody else, who has used the same name.
  [[nodiscard]] virtual agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const = 0;

  // The part of `wanted` that stands there already, which its trace tells; no value if none does.
  // Refused, in the words of `if_others`: what stands there is another's.
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
  Revision before_ = 0;  // what stood there when the last transaction was given
};

}  // namespace fleet
