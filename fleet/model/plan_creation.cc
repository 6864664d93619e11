#include "fleet/model/plan_creation.h"

#include <utility>

#include "fleet/model/keys.h"

namespace fleet {

using agent_protocol::Result;

PlanCreation::PlanCreation(std::string name, Plan wanted, std::vector<std::string> members,
                           PlanGround ground)
    : Creation(key_of(KeyKind::plan, {name}),
               "nothing may begin now (fleetctl stop), there is a rollout " + name +
                   ", or what was published or desired has changed"),
      name_(std::move(name)),
      wanted_(std::move(wanted)),
      members_(std::move(members)),
      ground_(std::move(ground)) {}

Result<std::optional<Transaction>> PlanCreation::what_is_left(const KeyValue* found) const {
  const auto written =
      written_of(wanted_, found, "there is a plan " + name_ + " already (fleetctl plan recover)");
  if (!written) return written.refusal();
  return next_creation(name_, wanted_, members_, ground_, written.value());
}

}  // namespace fleet
