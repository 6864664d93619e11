#include "fleet/fleetctl/plan_view.h"

#include <utility>

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/table.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

using fleet::PlanState;

namespace {

std::string text_of_step(const fleet::Plan& plan, std::int64_t step) {
  const auto all = static_cast<std::int64_t>(plan.steps.size());
  if (step < 1) return "-";
  if (step > all) return "all done";
  return std::to_string(step) + " " + plan.steps[static_cast<std::size_t>(step - 1)].name;
}

upgraderctl::Row row_of(const fleet::Plan& plan, const std::string& id,
                        const fleet::MemberSight& sight) {
  if (sight.revision == 0) return {"  " + id, "", "has recorded nothing", ""};
  const fleet::PlanMember& record = sight.record;
  return {"  " + id, text_of_step(plan, record.step), std::string(text_of(record.phase)),
          record.message};
}

}  // namespace

std::string progress(const fleet::Plan& plan) {
  return text_of_step(plan, plan.step) + " of " + std::to_string(plan.steps.size());
}

std::vector<std::string> plan_page(const fleet::PlanView& view) {
  const fleet::Plan& plan = view.plan;
  std::vector<std::string> lines{view.name + ": " + std::string(text_of(plan.state)) +
                                 (plan.error.empty() ? "" : ", " + plan.error)};
  std::vector<upgraderctl::Row> rows{{"  brings", plan.version},
                                     {"  step", progress(plan)},
                                     {"  driver", plan.driver},
                                     {"  begun by", plan.who}};
  if (!plan.lock.empty()) rows.push_back({"  its turn", plan.lock});
  if (!plan.waits_for.empty()) rows.push_back({"  waits for", plan.waits_for});
  for (const std::string& line : table(rows)) {
    lines.push_back(line);
  }
  std::vector<upgraderctl::Row> members{{"  MEMBER", "STEP", "PHASE", "LAST WORD"}};
  for (const std::string& id : view.ids) {
    const auto found = view.members.find(id);
    members.push_back(
        row_of(plan, id, found == view.members.end() ? fleet::MemberSight{} : found->second));
  }
  for (const std::string& line : table(members)) {
    lines.push_back(line);
  }
  return lines;
}

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
