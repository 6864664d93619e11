#include "fleet/fleetctl/held.h"

#include <algorithm>
#include <ctime>

#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleetctl {

using fleet::KeyKind;

namespace {

bool has_windows(const fleet::Reading& cell) {
  return std::ranges::any_of(cell.found, [](const fleet::KeyValue& found) {
    return found.key.starts_with(fleet::prefix_of(KeyKind::window));
  });
}

}  // namespace

bool is_stopped(const fleet::Reading& cell) {
  return cell.find(fleet::key_of(KeyKind::stop)) != nullptr;
}

fleet::Held held_rollout(const std::string& id, const fleet::Rollout& rollout,
                         const fleet::Reading& own, const fleet::Reading& cell,
                         const fleet::WindowView& windows) {
  if (rollout.state == fleet::RolloutState::created || is_over(rollout.state)) return {};
  fleet::Held lack = fleet::undriven(id, cell);
  if (!lack.words.empty()) return lack;
  fleet::ToBegin what = to_begin(rollout, own);
  fleet::Held held = held_back(what, is_stopped(cell), windows);
  if (!held.needs_person) return held;
  // Decide again as if the batch took no time. If the rollout then does not wait for a person, the
  // batch is too long for every window, so name the option that makes it long.
  what.takes = 0;
  if (!held_back(what, is_stopped(cell), windows).needs_person)
    held.words += " (--confirm: " + fleet::countdown(confirm_ms(rollout.terms) / 1'000) + ")";
  return held;
}

fleet::Held held_plan(const fleet::PlanView& plan, const fleet::Reading& cell,
                      const fleet::WindowView& windows) {
  const fleet::PlanState state = plan.plan.state;
  if (state != fleet::PlanState::running && state != fleet::PlanState::stopping) return {};
  fleet::Held lack = fleet::undriven(plan.name, cell);
  if (lack.words.empty()) lack = not_halted(plan, cell);
  if (lack.words.empty()) lack = agents_to_come(plan);
  if (!lack.words.empty()) return lack;
  fleet::Budgets budgets;
  budgets.take_all(cell);
  return held_back(to_begin(plan, budgets), is_stopped(cell), windows);
}

// Reads the records of nodes only if the cell has windows, since there may be thousands of nodes.
std::variant<fleet::Held, int> find_held(Asker& asker, const std::string& id,
                                         const fleet::Rollout& rollout,
                                         const fleet::Reading& reading) {
  std::vector<std::string> keys{fleet::key_of(KeyKind::stop), fleet::prefix_of(KeyKind::window),
                                fleet::prefix_of(KeyKind::driver),
                                fleet::prefix_of(KeyKind::controller)};
  auto reply = read_keys(asker, keys);
  const auto* cell = std::get_if<fleet::Reading>(&reply);
  if (cell != nullptr && has_windows(*cell) && !to_begin(rollout, reading).nodes.empty()) {
    keys.push_back(fleet::prefix_of(KeyKind::node_info));
    keys.push_back(fleet::node_identities());
    reply = read_keys(asker, keys);
    cell = std::get_if<fleet::Reading>(&reply);
  }
  if (cell == nullptr) return unreachable(std::get<fleet::Trouble>(reply));
  fleet::WindowView windows(fleet::zone_of);
  windows.set_wall(std::time(nullptr), 0);
  windows.take_all(*cell);
  return held_rollout(id, rollout, reading, *cell, windows);
}

}  // namespace fleetctl
