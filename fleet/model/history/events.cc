#include "fleet/model/history/events.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fleet/model/nodes/node_view.h"
#include "fleet/model/reasons/stop_words.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/rollouts/gates.h"

namespace fleet {
namespace {

std::string with_reason(std::string text, const std::string& reason) {
  if (!reason.empty()) text += ": " + reason;
  return text;
}

std::optional<FleetEvent> rollout(const KeyValue& record) {
  const auto read = read_record<Rollout>(record.value);
  if (!read || read.value().state == RolloutState::created) return std::nullopt;
  const Rollout& one = read.value();
  const std::string state(text_of(one.state));
  std::string text =
      with_reason(one.terms.component + " " + one.terms.version + " " + state, one.reason);
  // While the rollout is rolling, the text also contains the answers of the gates. Each change of
  // the text makes an event, but the answers change rarely: when a gate changes its verdict, or a
  // batch ends.
  const bool is_going_on = one.state == RolloutState::rolling;
  for (std::size_t i = 0; is_going_on && i < one.gates.size(); ++i)
    text += "; gate " + one.gates[i].name + ": " + words_of(one.gates[i]);
  return FleetEvent{.kind = "rollout-" + state, .text = text, .trace = one.trace};
}

std::optional<FleetEvent> plan(const KeyValue& record) {
  const auto read = read_record<Plan>(record.value);
  if (!read || read.value().state == PlanState::created) return std::nullopt;
  const Plan& one = read.value();
  const std::string state(text_of(one.state));
  return FleetEvent{.kind = "plan-" + state,
                    .text = with_reason(one.version + " " + state, one.error),
                    .trace = one.trace};
}

// Returns the kind of the event for this phase of an upgrade, or an empty string for a phase that
// has no event. If each phase had an event, a rollout to a thousand nodes would fill the history.
std::string upgrade_kind(UpgradePhase phase) {
  switch (phase) {
    case UpgradePhase::staging:
    case UpgradePhase::verifying:
      return "begun";
    case UpgradePhase::cutover_ready:
    case UpgradePhase::done:
    case UpgradePhase::failed:
    case UpgradePhase::unconfirmed:
    case UpgradePhase::rolled_back:
      return std::string(text_of(phase));
    case UpgradePhase::unknown:
    case UpgradePhase::soaking:
    case UpgradePhase::soaked:
      break;
  }
  return "";
}

std::optional<FleetEvent> upgrade(const std::string& component, const KeyValue& record) {
  const auto read = read_record<Upgrade>(record.value);
  if (!read) return std::nullopt;
  const Upgrade& one = read.value();
  const std::string kind = upgrade_kind(one.phase);
  if (kind.empty()) return std::nullopt;
  const std::string words = kind == "begun" ? kind : words_of(one.phase);
  return FleetEvent{.kind = "upgrade-" + kind,
                    .text = with_reason(component + " " + one.to + " " + words, one.error),
                    .trace = one.attempt.substr(0, one.attempt.find('.'))};
}

std::optional<FleetEvent> desired(const std::string& component, bool pinned_only,
                                  const KeyValue& record) {
  const auto read = read_record<Desired>(record.value);
  if (!read || (pinned_only && !read.value().pinned)) return std::nullopt;
  const Desired& one = read.value();
  const bool is_refused = !one.refused.empty();
  return FleetEvent{.kind = "desired",
                    .text = with_reason(component + " " + one.version + " is desired" +
                                            (is_refused ? ", but moves no node" : ""),
                                        is_refused ? one.refused : one.why),
                    .trace = one.trace};
}

std::optional<FleetEvent> stop(const KeyValue& record) {
  const auto read = read_record<Stop>(record.value);
  if (!read) return FleetEvent{.kind = "stopped", .text = "nothing begins"};
  return FleetEvent{.kind = "stopped",
                    .text = with_reason("nothing begins: " + read.value().who, read.value().why)};
}

std::optional<FleetEvent> instance(const KeyValue& record) {
  const auto read = read_record<Instance>(record.value);
  if (!read || read.value().degraded.empty()) return std::nullopt;
  return FleetEvent{.kind = "degraded", .text = "is degraded: " + read.value().degraded};
}

std::optional<FleetEvent> driver(const ParsedKey& key, const KeyValue& record) {
  const auto read = read_record<DriverRecord>(record.value);
  const std::string& id = key.names.front();
  // These three drivers always exist, and people do not care which controller runs them. So there
  // is no event about them.
  const bool is_of_cell = id == "events" || id == "watch" || id == "desired";
  if (!read || is_of_cell) return std::nullopt;
  return FleetEvent{.kind = "driven", .text = "is driven by " + read.value().controller};
}

std::optional<FleetEvent> words_of(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::rollout) return rollout(record);
  if (key.kind == KeyKind::plan) return plan(record);
  if (key.kind == KeyKind::node_upgrade) return upgrade(key.names[1], record);
  if (key.kind == KeyKind::desired) return desired(key.names[0], false, record);
  if (key.kind == KeyKind::node_desired) return desired(key.names[1], true, record);
  if (key.kind == KeyKind::node_instance) return instance(record);
  if (key.kind == KeyKind::driver) return driver(key, record);
  if (key.kind == KeyKind::stop) return stop(record);
  if (key.kind == KeyKind::release) return FleetEvent{.kind = "published", .text = "is published"};
  if (key.kind != KeyKind::settings && key.kind != KeyKind::window) return std::nullopt;
  return FleetEvent{.kind = "set", .text = "is set, by change " + std::to_string(record.modified)};
}

std::string webhook_in(const Notices::Records& records) {
  const KeyValue* found = record_at(records, key_of(KeyKind::settings));
  if (found == nullptr) return "";
  const auto settings = read_record<Settings>(found->value);
  return settings ? cell_settings(settings.value()).webhook : "";
}

// Returns the number of the event with this key, or no value if `text` is not the key of an event.
// Below event/, anybody may write keys of other forms.
std::optional<std::int64_t> event_number(const std::string& text) {
  const auto key = parse_key(text);
  if (!key || key->kind != KeyKind::event) return std::nullopt;
  return static_cast<std::int64_t>(key->number());
}

std::string body_of(const FleetEvent& event, std::int64_t number) {
  JsonTree tree = json_object();
  tree.members["text"] = json_text("fleet: " + event.subject + ": " + event.text);
  tree.members["event"] = json_number(number);
  tree.members["time"] = json_text(event.time);
  tree.members["class"] = json_text(event.kind);
  tree.members["subject"] = json_text(event.subject);
  tree.members["trace"] = json_text(event.trace);
  return write_tree(tree);
}

Transaction noted(const KeyValue* before, const Notified& notified) {
  const std::string key = key_of(KeyKind::notified);
  return {.compares = {{.key = key, .revision = before == nullptr ? 0 : before->modified}},
          .puts = {{key, write_record(notified)}}};
}

// Returns whether the event is sent to the webhook. Such an event is a success, a failure or a
// halt.
bool is_notable(const FleetEvent& event) {
  constexpr auto kinds = std::to_array<std::string_view>(
      {"rollout-completed", "rollout-aborted", "rollout-paused", "rollout-undone", "plan-completed",
       "plan-halted", "plan-aborted", "upgrade-failed", "upgrade-unconfirmed", "stopped",
       "degraded", "watch-halted"});
  return std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end();
}

}  // namespace

std::optional<FleetEvent> event_of(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return std::nullopt;
  auto event = words_of(*key, record);
  if (!event) return std::nullopt;
  event->subject = record.key.substr(key_root.size());
  event->revision = record.modified;
  return event;
}

std::optional<FleetEvent> event_of_absence(std::string_view key, const std::string* epoch) {
  if (key != key_of(KeyKind::stop)) return std::nullopt;
  return FleetEvent{.kind = "stop-ended", .subject = "stop", .text = words_after_stop(epoch)};
}

FleetEvent event_of_silence(std::string_view node, bool silent) {
  return {.kind = silent ? "silent" : "reports",
          .subject = "node/" + std::string(node),
          .text = silent ? "reports no longer" : "reports"};
}

bool is_about(std::string_view subject, std::string_view asked) {
  if (!subject.starts_with(asked)) return false;
  subject.remove_prefix(asked.size());
  return subject.empty() || subject.starts_with('/');
}

void add_event(Transaction& transaction, const FleetEvent& event, std::uint64_t number) {
  if (number > event_number_max) return;
  const std::string key = key_of(KeyKind::event, {}, number);
  transaction.compares.push_back({.key = key});
  transaction.puts.push_back({key, write_record(event)});
}

void add_note(Transaction& transaction, const FleetEvent& event) {
  const auto key = key_if(KeyKind::order, {event.trace});
  if (key) transaction.puts.push_back({*key, write_record(event)});
}

FleetEvent event_of_note(const KeyValue& record, const std::string& time) {
  const auto read = read_record<FleetEvent>(record.value);
  FleetEvent event = read ? read.value() : FleetEvent{.text = "a note that " + read.reason()};
  event.kind = "ordered";
  event.time = time;
  event.revision = record.modified;
  event.proved = false;
  return event;
}

std::uint64_t last_event(const std::map<std::string, KeyValue, std::less<>>& records) {
  const std::string below = prefix_of(KeyKind::event);
  for (auto at = records.upper_bound(below + "~"); at != records.begin();) {
    --at;
    if (!at->first.starts_with(below)) break;
    const auto key = parse_key(at->first);
    // Skip keys of other forms, which anybody may write below event/.
    if (key && key->kind == KeyKind::event) return key->number();
  }
  return 0;
}

bool is_by(const FleetEvent& event, std::string_view name) {
  const std::string_view who = event.who;
  return who == name || who.substr(who.find(':') + 1) == name;
}

// ---- notices

std::optional<std::string> webhook_file(std::string_view webhook) {
  constexpr std::string_view file = "file:";
  if (!webhook.starts_with(file)) return std::nullopt;
  return std::string(webhook.substr(file.size()));
}

std::string webhook_url(std::string_view content) {
  const std::string_view line = content.substr(0, content.find_first_of("\r\n"));
  const bool is_url = line.starts_with("https://") || line.starts_with("http://");
  return is_url ? std::string(line) : "";
}

Notices::Step Notices::next(const Records& records, bool ours, Ms now) {
  const std::string webhook = webhook_in(records);
  if (!ours) looked_until_ = 0;
  if (under_way_ || !ours || webhook.empty()) return Rest{};
  if (denied_until_ && now < *denied_until_) return Rest{denied_until_};
  const KeyValue* found = record_at(records, key_of(KeyKind::notified));
  const auto read =
      found == nullptr ? read_record<Notified>("{}") : read_record<Notified>(found->value);
  const Notified before = read ? read.value() : Notified{};
  const auto last = static_cast<std::int64_t>(last_event(records));
  if (before.webhook != webhook) {
    // The setting `webhook` has a new value. Note the last event as sent, so that older events are
    // not sent to the new address.
    under_way_ = true;
    done_ = 0;
    return noted(found, {last, webhook});
  }
  if (done_ > before.event) {
    under_way_ = true;
    return noted(found, {done_, webhook});
  }
  // The store has the number in done_ now, so forget it here. Otherwise, if the store were restored
  // from an older copy, new events up to that number would not be sent.
  done_ = 0;
  // If the last event has a lower number than looked_until_, the store was restored from an older
  // copy, and new events may get numbers up to looked_until_.
  if (last < looked_until_) looked_until_ = 0;
  const std::int64_t from = std::max(before.event, looked_until_) + 1;
  // No event has a number above event_number_max. The key of a larger number has more digits, so it
  // is sorted before the key of the last event, and the loop below would send events a second time.
  if (from > static_cast<std::int64_t>(event_number_max)) return Rest{};
  const std::string first = key_of(KeyKind::event, {}, static_cast<std::uint64_t>(from));
  for (auto at = records.lower_bound(first); at != records.end(); ++at) {
    if (!at->first.starts_with(prefix_of(KeyKind::event))) break;
    const auto number = event_number(at->first);
    if (!number) continue;
    const auto event = read_record<FleetEvent>(at->second.value);
    if (!event || !is_notable(event.value())) {
      looked_until_ = *number;
      continue;
    }
    if (rests_until_ && now < *rests_until_) return Rest{rests_until_};
    under_way_ = true;
    event_ = *number;
    return Post{event_, webhook, body_of(event.value(), event_), event.value()};
  }
  return Rest{};
}

void Notices::posted(bool taken, Ms now) {
  under_way_ = false;
  rests_until_.reset();
  if (taken || ++tries_ == notice_tries_max) {
    done_ = event_;
    tries_ = 0;
    return;
  }
  rests_until_ = now + std::min(notice_rest_ms << std::min(tries_ - 1, 20), notice_rest_max_ms);
}

std::string Notices::written(const Outcome& outcome, Ms now) {
  under_way_ = false;
  denied_until_.reset();
  const auto* denied = std::get_if<Denied>(&outcome);
  if (denied == nullptr) {
    if (std::holds_alternative<Committed>(outcome)) denial_.clear();
    return "";
  }
  denied_until_ = now + notice_denied_rest_ms;
  if (std::exchange(denial_, denied->reason) == denied->reason) return "";
  return "no notices are sent: the store denies the write: " + denied->reason;
}

}  // namespace fleet
