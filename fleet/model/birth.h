// Writes something new that takes several transactions, one after the other, whoever begins it.
// What came of each is read from the store, so that an answer that was lost does not matter. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "agent-protocol/wire/result.h"
#include "fleet/model/transaction.h"

namespace fleet {

class Birth {
 public:
  // All of it is written, and it begins.
  struct Begun {};
  // It does not begin, and will not. Not known: perhaps it will.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  virtual ~Birth() = default;

  // What is to be read before each next().
  [[nodiscard]] const std::string& key() const { return key_; }

  // `found` is what stands at key() now (null: nothing), `last` what came of the transaction that
  // was given last (null: none was).
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 protected:
  // `refusal` is what it means that the store refuses a transaction.
  Birth(std::string key, std::string refusal)
      : key_(std::move(key)), refusal_(std::move(refusal)) {}
  Birth(const Birth&) = default;
  Birth(Birth&&) = default;
  Birth& operator=(const Birth&) = default;
  Birth& operator=(Birth&&) = default;

  // What is written behind that; none: all of it is. Refused: it is not ours.
  [[nodiscard]] virtual agent_protocol::Result<std::optional<Transaction>> behind(
      const KeyValue* found) const = 0;

 private:
  std::string key_;
  std::string refusal_;
  Revision before_ = 0;  // what stood there when the last transaction was given
};

}  // namespace fleet
