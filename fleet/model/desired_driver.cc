#include "fleet/model/desired_driver.h"

#include <algorithm>
#include <utility>

#include "fleet/model/desired_standing.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleet {
namespace {

// Returns whether the transaction writes a command that still needs a lease. The lease ends when
// the command may no longer be begun.
bool wants_lease(const Transaction& transaction) {
  return std::any_of(transaction.puts.begin(), transaction.puts.end(), [](const Put& put) {
    return put.lease == 0 && parse_key(put.key)->kind == KeyKind::node_command;
  });
}

}  // namespace

DesiredTask::DesiredTask(const std::vector<std::string>& components,
                         const DesiredSettings& settings, ZoneBook zones)
    : windows_(std::move(zones)), settings_(settings) {
  for (const std::string& component : components)
    components_.push_back({DesiredView(component)});
}

std::string DesiredTask::key() const {
  return key_of(KeyKind::driver, {desired_id});
}

std::vector<std::string> DesiredTask::prefixes() const {
  return {prefix_of(KeyKind::desired), prefix_of(KeyKind::node_info), node_identities(),
          key_of(KeyKind::stop),       prefix_of(KeyKind::window),    key_of(KeyKind::settings),
          prefix_of(KeyKind::place)};
}

void DesiredTask::take(const KeyValue& record) {
  for (Component& component : components_)
    component.view.take(record);
  windows_.take(record);
  budgets_.take(record);
}

void DesiredTask::take_absent(const std::string& key) {
  for (Component& component : components_)
    component.view.take_absent(key);
  windows_.take_absent(key);
  budgets_.take_absent(key);
}

void DesiredTask::take_all(const Reading& reading) {
  for (Component& component : components_)
    component.view.take_all(reading);
  windows_.take_all(reading);
  budgets_.take_all(reading);
}

// Finds the nodes whose windows are closed, or will close too soon: before the upgrade is over or,
// if the new version waits at its gate, before the old one has stopped.
void DesiredTask::look_at_windows(Component& component, Ms now) const {
  component.marks.closed.clear();
  const Ms takes = settings_.staging_ms + settings_.observe_ms + settings_.stop_ms;
  for (const auto& [id, node] : component.view.nodes()) {
    const bool has_begun = phase_of(node) == UpgradePhase::cutover_ready;
    const Opening opening = windows_.opening(id, has_begun ? settings_.stop_ms : takes, now);
    if (!opening.is_open) component.marks.closed[id] = opening.until;
  }
}

DriverStep DesiredTask::next(Revision fence, Ms now) {
  Wait wait;
  for (Component& component : components_) {
    look(component.view, component.marks, now);
    look_at_windows(component, now);
    DesiredDecision decision =
        decide_desired(component.view, settings_, component.marks, fence, lease_, now, &budgets_);
    if (decision.transaction) {
      if (wants_lease(*decision.transaction)) return GrantLease{settings_.stop_ms};
      return Write{std::move(*decision.transaction), decision.news};
    }
    if (decision.until && (!wait.until || *decision.until < *wait.until)) {
      wait.until = decision.until;
    }
  }
  return wait;
}

std::string DesiredTask::words(Ms now) const {
  std::string text;
  for (const Component& component : components_) {
    text += component.view.component();
    for (const auto& [key, mark] : component.marks.ready) {
      text += " " + key.first + " " + key.second + " " + std::to_string(now - mark.first);
    }
    for (const auto& [id, mark] : component.marks.told) {
      text += " " + id + " " + std::to_string(now - mark.second);
    }
  }
  return text;
}

}  // namespace fleet
