// This file changes a rollout's record by the order of a person. It does no input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The orders that a person may give to a rollout.
enum class RolloutWish { pause, resume, abort, undo, undo_now };

// Returns `asked for by NAME`, the reason that the rollout's record gives for a pause or an abort
// that a person has ordered.
[[nodiscard]] std::string asked_for(const Rollout& rollout);

// Begins the undo of a rollout, starting with the last batch that has begun. The rollout must have
// ended, or must end in the same transaction.
void begin_undo(Rollout& rollout);

struct WishedRollout {
  std::optional<Rollout> rollout = {};  // the new record; no value if nothing changes
  // True if nodes may begin a step by this order. While the record `stop` exists, the store refuses
  // such an order.
  bool begins = false;
  std::string words = {};
};

// Returns the rollout's record as this order changes it, or a Refusal if the order comes too late
// or too early.
[[nodiscard]] agent_protocol::Result<WishedRollout> wished(const Rollout& rollout, RolloutWish wish,
                                                           bool leave);

struct OrderedRollout {
  // The transaction that writes the order; no value if nothing changes.
  std::optional<Transaction> transaction = {};
  std::string words = {};
};

// Returns the transaction that writes an order of the person `who` into the rollout's record
// `found`. Returns a Refusal as wished() does. The store refuses the transaction if the record has
// changed, and also if `begins` is true and the record `stop` exists.
[[nodiscard]] agent_protocol::Result<OrderedRollout> ordered(std::string_view id,
                                                             const KeyValue& found,
                                                             RolloutWish wish, bool leave,
                                                             const std::string& who);

}  // namespace fleet
