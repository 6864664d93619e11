#include "fleet/model/plan_birth.h"

#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

PlanBirth::PlanBirth(std::string name, Plan wanted, std::vector<std::string> members,
                     PlanGround ground)
    : Birth(key_of(KeyKind::plan, {name}),
            "nothing may begin now (fleetctl stop), there is a rollout " + name +
                ", or what was published or desired has changed"),
      name_(std::move(name)),
      wanted_(std::move(wanted)),
      members_(std::move(members)),
      ground_(std::move(ground)) {}

Result<std::optional<Transaction>> PlanBirth::behind(const KeyValue* found) const {
  if (found == nullptr) return next_creation(name_, wanted_, members_, ground_, std::nullopt);
  const auto record = read_record<Plan>(found->value);
  if (!record || record.value().trace != wanted_.trace) {
    return Refusal{"there is a plan " + name_ + " already (fleetctl plan recover)"};
  }
  return next_creation(name_, wanted_, members_, ground_,
                       WrittenPlan{record.value(), found->modified});
}

}  // namespace fleet
