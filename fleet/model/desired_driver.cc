#include "fleet/model/desired_driver.h"

#include <algorithm>
#include <utility>

#include "fleet/model/keys.h"

namespace fleet {
namespace {

// A command is on a lease, which is its not-after.
bool wants_lease(const Transaction& transaction) {
  return std::any_of(transaction.puts.begin(), transaction.puts.end(), [](const Put& put) {
    return put.lease == 0 && parse_key(put.key)->kind == KeyKind::node_command;
  });
}

}  // namespace

DesiredTask::DesiredTask(const std::vector<std::string>& components,
                         const DesiredSettings& settings)
    : settings_(settings) {
  for (const std::string& component : components)
    components_.push_back({DesiredView(component)});
}

std::string DesiredTask::key() const {
  return key_of(KeyKind::driver, {desired_id});
}

std::vector<std::string> DesiredTask::prefixes() const {
  return {prefix_of(KeyKind::desired), prefix_of(KeyKind::node_info), key_of(KeyKind::stop)};
}

void DesiredTask::take(const KeyValue& record) {
  for (Component& component : components_)
    component.view.take(record);
}

void DesiredTask::take_absent(const std::string& key) {
  for (Component& component : components_)
    component.view.take_absent(key);
}

void DesiredTask::take_all(const Reading& reading) {
  for (Component& component : components_)
    component.view.take_all(reading);
}

DriverStep DesiredTask::next(Revision fence, Ms now) {
  Wait wait;
  for (Component& component : components_) {
    look(component.view, component.marks, now);
    DesiredDecision decision =
        decide_desired(component.view, settings_, component.marks, fence, lease_, now);
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
