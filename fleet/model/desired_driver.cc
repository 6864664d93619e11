#include "fleet/model/desired_driver.h"

#include <algorithm>
#include <utility>

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleet {
namespace {

// Returns whether the transaction writes a command that still needs a lease. The command vanishes
// when its lease ends, so it cannot be begun later.
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

DriverStep DesiredTask::next(Revision fence, Ms now) {
  Wait wait;
  const auto opening = [this, now](const std::string& id, Ms takes) {
    return windows_.opening(id, takes, now);
  };
  const bool windows_changed = windows_seen_ != windows_.changes();
  windows_seen_ = windows_.changes();
  for (Component& component : components_) {
    component.marks.look(component.view, now);
    if (windows_changed) component.marks.reopen();
    DesiredDecision decision = decide_desired(component.view, settings_, component.marks, fence,
                                              lease_, now, &budgets_, opening);
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
    text += component.view.component() + component.marks.words(now);
  }
  return text;
}

}  // namespace fleet
