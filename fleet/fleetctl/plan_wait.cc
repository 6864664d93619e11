#include "fleet/fleetctl/plan_wait.h"

#include <utility>

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/plan_view.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

using fleet::PlanState;

int wait_for_plan(const PlanWait& way, const std::string& name) {
  const std::string key = fleet::key_of(fleet::KeyKind::plan, {name});
  for (std::string told;; way.rest()) {
    const auto reply = way.read({key});
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
    const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(key);
    const auto read = fleet::read_record<fleet::Plan>(found == nullptr ? "" : found->value);
    if (!read) {
      complain(name + ": " + (found == nullptr ? "no such plan" : read.reason()));
      return exit_refused;
    }
    const fleet::Plan& plan = read.value();
    const std::string now = std::string(text_of(plan.state)) + ", step " + progress(plan);
    if (std::exchange(told, now) != now) {
      way.say(now + (plan.error.empty() ? "" : ": " + plan.error));
    }
    if (plan.state == PlanState::completed) return exit_done;
    if (plan.state == PlanState::halted || plan.state == PlanState::aborted) return exit_failed;
  }
}

}  // namespace fleetctl
