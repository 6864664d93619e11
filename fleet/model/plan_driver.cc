#include "fleet/model/plan_driver.h"

#include <utility>

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleet {

PlanTask::PlanTask(const std::string& controller, std::string plan, ZoneBook zones)
    : windows_(std::move(zones)) {
  view_.name = std::move(plan);
  facts_.controller = controller;
}

std::string PlanTask::key() const {
  return key_of(KeyKind::driver, {view_.name});
}

std::vector<std::string> PlanTask::prefixes() const {
  return {key_of(KeyKind::plan, {view_.name}),
          key_below(key_of(KeyKind::plan, {view_.name}) + "/member"),
          prefix_of(KeyKind::once) + view_.name + "/",
          key_of(KeyKind::stop),
          prefix_of(KeyKind::node_info),
          node_identities(),
          prefix_of(KeyKind::rollout),
          prefix_of(KeyKind::window),
          key_of(KeyKind::settings),
          prefix_of(KeyKind::place)};
}

void PlanTask::take(const KeyValue& record) {
  view_.take(record);
  windows_.take(record);
  budgets_.take(record);
}

void PlanTask::take_absent(const std::string& key) {
  view_.take_absent(key);
  windows_.take_absent(key);
  budgets_.take_absent(key);
}

void PlanTask::take_all(const Reading& reading) {
  view_.take_all(reading);
  windows_.take_all(reading);
  budgets_.take_all(reading);
}

DriverStep PlanTask::next(Revision fence, Ms now) {
  facts_.fence = fence;
  facts_.budgets = &budgets_;
  const Plan& plan = view_.plan;
  const bool is_free = plan.ignore_window;
  facts_.window = is_free ? Opening{} : windows_.opening(view_.ids, longest(view_, &budgets_), now);
  PlanDecision decision = decide_plan(view_, facts_, now);
  facts_.waits_for = decision.waits_for;
  facts_.since = decision.since;
  if (decision.over) {
    const std::string why = view_.revision == 0 ? "it is not there" : decision.news;
    return Over{why.empty() ? "it has ended" : why, !view_.damage.empty()};
  }
  if (decision.transaction) return Write{std::move(*decision.transaction), decision.news};
  return Wait{decision.until};
}

std::string PlanTask::words(Ms now) const {
  return "sees @" + std::to_string(view_.revision) + " waits " + facts_.waits_for + " " +
         std::to_string(now - facts_.since);
}

}  // namespace fleet
