#include "fleet/model/notices.h"

#include <algorithm>

#include "fleet/model/event_words.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/record_tree.h"
#include "fleet/model/settings.h"

namespace fleet {
namespace {

std::string webhook_in(const Notices::Records& records) {
  const KeyValue* found = record_at(records, key_of(KeyKind::settings));
  if (found == nullptr) return "";
  const auto settings = read_record<Settings>(found->value);
  return settings ? cell_settings(settings.value()).webhook : "";
}

// Returns the event's number, or no value if `text` is not the key of an event. Anybody may write
// keys of other forms below event/.
std::optional<std::int64_t> event_number(const std::string& text) {
  const auto key = parse_key(text);
  if (!key || key->kind != KeyKind::event) return std::nullopt;
  return static_cast<std::int64_t>(key->number());
}

std::string body_of(const FleetEvent& event, std::int64_t number) {
  JsonTree tree{.kind = JsonTree::Kind::object};
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

}  // namespace

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
  const KeyValue* found = record_at(records, key_of(KeyKind::notified));
  const auto read =
      found == nullptr ? read_record<Notified>("{}") : read_record<Notified>(found->value);
  const Notified before = read ? read.value() : Notified{};
  const auto last = static_cast<std::int64_t>(last_event(records));
  if (before.webhook != webhook) {
    // The setting `webhook` has a new value. Events from before the change are not sent to the new
    // address, so the last of them is noted as sent.
    under_way_ = true;
    done_ = 0;
    return noted(found, {last, webhook});
  }
  if (done_ > before.event) {
    under_way_ = true;
    return noted(found, {done_, webhook});
  }
  // The number in `done_` is now in the store, so `done_` is set back to 0. Otherwise, if the store
  // is restored from an older copy later, new events up to that number would seem to be sent
  // already.
  done_ = 0;
  // If the numbers of events have become smaller, the store was restored from an older copy.
  if (last < looked_until_) looked_until_ = 0;
  const std::int64_t from = std::max(before.event, looked_until_) + 1;
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

void Notices::written() {
  under_way_ = false;
}

}  // namespace fleet
