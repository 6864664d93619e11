// Changes a rollout's record by a person's order. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The orders that a person may give to a rollout that has begun.
enum class RolloutWish { pause, resume, abort, undo, undo_now };

// Returns the reason of a pause or an abort that a person has ordered: `asked for by NAME`.
[[nodiscard]] std::string asked_for(const Rollout& rollout);

// Makes the rollout go back, beginning with its last batch. The rollout must have ended, or end in
// the same transaction.
void begin_undo(Rollout& rollout);

struct WishedRollout {
  std::optional<Rollout> rollout = {};  // the record to write; no value if nothing changes
  bool begins = false;  // nodes begin something, so it is written only while `stop` is absent
  std::string words = {};
};

// Returns the changed rollout, or a Refusal if the order comes too late or too early.
[[nodiscard]] agent_protocol::Result<WishedRollout> wished(const Rollout& rollout, RolloutWish wish,
                                                           bool leave);

struct OrderedRollout {
  std::optional<Transaction> transaction = {};  // no value if nothing changes
  std::string words = {};
};

// Returns the transaction that changes the rollout `found` as `who` has ordered. The transaction
// demands that the record is unchanged and, if it makes nodes begin something, that `stop` is
// absent.
[[nodiscard]] agent_protocol::Result<OrderedRollout> ordered(std::string_view id,
                                                             const KeyValue& found,
                                                             RolloutWish wish, bool leave,
                                                             const std::string& who);

}  // namespace fleet
