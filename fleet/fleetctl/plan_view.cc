#include "fleet/fleetctl/plan_view.h"

#include "fleet/fleetctl/table.h"
#include "fleet/model/enum_text.h"

namespace fleetctl {
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

}  // namespace fleetctl
