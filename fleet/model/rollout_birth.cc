#include "fleet/model/rollout_birth.h"

#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

RolloutBirth::RolloutBirth(std::string id, Rollout wanted, RolloutDraft draft, Revision release)
    : Birth(key_of(KeyKind::rollout, {id}),
            "nothing may begin now (fleetctl stop), the release has changed, or a plan is called " +
                id),
      id_(std::move(id)),
      wanted_(std::move(wanted)),
      draft_(std::move(draft)),
      release_(release) {}

Result<std::optional<Transaction>> RolloutBirth::behind(const KeyValue* found) const {
  if (found == nullptr) return next_creation(id_, wanted_, draft_, release_, std::nullopt);
  const auto record = read_record<Rollout>(found->value);
  if (!record || record.value().trace != wanted_.trace) {
    return Refusal{"there is a rollout " + id_ + " already"};
  }
  return next_creation(id_, wanted_, draft_, release_,
                       WrittenRollout{record.value(), found->modified});
}

}  // namespace fleet
