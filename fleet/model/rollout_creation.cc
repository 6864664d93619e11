#include "fleet/model/rollout_creation.h"

#include <utility>

#include "fleet/model/keys.h"

namespace fleet {

using agent_protocol::Result;

RolloutCreation::RolloutCreation(std::string id, Rollout wanted, RolloutDraft draft,
                                 Revision release)
    : Creation(
          key_of(KeyKind::rollout, {id}),
          "nothing may begin now (fleetctl stop), the release has changed, or a plan is called " +
              id),
      id_(std::move(id)),
      wanted_(std::move(wanted)),
      draft_(std::move(draft)),
      release_(release) {}

Result<std::optional<Transaction>> RolloutCreation::what_is_left(const KeyValue* found) const {
  const auto written = written_of(wanted_, found, "there is a rollout " + id_ + " already");
  if (!written) return written.refusal();
  return next_creation(id_, wanted_, draft_, release_, written.value());
}

}  // namespace fleet
