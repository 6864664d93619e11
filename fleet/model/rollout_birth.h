// Writes a new rollout, one transaction after the other, whoever begins it. What came of each is
// read from the store, so that an answer that was lost does not matter. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "fleet/model/rollout_draft.h"
#include "fleet/model/transaction.h"

namespace fleet {

class RolloutBirth {
 public:
  // All of it is written, and it rolls.
  struct Begun {};
  // It does not roll, and will not. Not known: perhaps it will.
  struct NotBegun {
    std::string reason = {};
    bool is_known = true;
  };
  using Next = std::variant<Transaction, Begun, NotBegun>;

  // `release` is the revision of the release's record, which must not change meanwhile.
  RolloutBirth(std::string id, Rollout wanted, RolloutDraft draft, Revision release);

  [[nodiscard]] const std::string& id() const { return id_; }
  // What is to be read before each next().
  [[nodiscard]] std::string key() const;

  // `found` is what stands at key() now (null: nothing), `last` what came of the transaction that
  // was given last (null: none was).
  [[nodiscard]] Next next(const KeyValue* found, const Outcome* last);

 private:
  std::string id_;
  Rollout wanted_;
  RolloutDraft draft_;
  Revision release_;
  Revision before_ = 0;  // what stood there when the last transaction was given
};

}  // namespace fleet
