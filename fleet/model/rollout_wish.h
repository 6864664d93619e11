// The change of a rollout's record when a person tells it something. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The words that a person may tell a rollout that has begun.
enum class RolloutWish { pause, resume, abort };

// Why a rollout pauses or aborts by a person's order.
[[nodiscard]] std::string asked_for(const Rollout& rollout);

struct WishedRollout {
  std::optional<Rollout> rollout = {};  // to be written; none: it is so already
  bool begins = false;                  // so it is written only while `stop` is absent
  std::string words = {};
};

// Refused where it comes too late, or too early.
[[nodiscard]] agent_protocol::Result<WishedRollout> wished(const Rollout& rollout, RolloutWish wish,
                                                           bool leave);

struct OrderedRollout {
  std::optional<Transaction> transaction = {};  // none: it is so already
  std::string words = {};
};

// The same of what stands in the store, by the order of `who`: the transaction compares that it
// still stands there, and, where something begins by it, that `stop` is absent.
[[nodiscard]] agent_protocol::Result<OrderedRollout> ordered(std::string_view id,
                                                             const KeyValue& found,
                                                             RolloutWish wish, bool leave,
                                                             const std::string& who);

}  // namespace fleet
