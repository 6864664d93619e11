// Writes a new rollout.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/creation.h"
#include "fleet/model/rollout_draft.h"

namespace fleet {

class RolloutCreation : public Creation {
 public:
  // `release` is the revision of the release's record. If the record changes before the rollout is
  // written, the store refuses to write the rollout.
  RolloutCreation(std::string id, Rollout wanted, RolloutDraft draft, Revision release);

  [[nodiscard]] const std::string& trace() const { return wanted_.trace; }

 private:
  [[nodiscard]] agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const override;

  std::string id_;
  Rollout wanted_;
  RolloutDraft draft_;
  Revision release_;
};

}  // namespace fleet
