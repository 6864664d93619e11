#include "fleet/model/chronicle.h"

#include <algorithm>
#include <utility>

#include "fleet/model/event_words.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_brief.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// With its compares and those that are forgotten it stays below what a transaction may have: in
// their number, and in their bytes, since an event is no longer than its texts may be.
constexpr std::size_t events_at_once = 50;
static_assert(events_at_once * (key_bytes_max + 4 * text_bytes_max) < transaction_bytes_max);

// What HTTP and others write about a subject is no news of ours.
bool is_ours(const FleetEvent& event) {
  return event.kind != "ordered";
}

// A wish that is made anew is news; an upgrade that was confirmed by another command than began it
// is the same, and one that begins anew says so in between.
bool tells_the_same(const FleetEvent& one, const FleetEvent& other) {
  const bool same_trace = one.trace == other.trace || one.kind.starts_with("upgrade-");
  return one.kind == other.kind && one.text == other.text && same_trace;
}

}  // namespace

std::string ChronicleTask::key() const {
  return key_of(KeyKind::driver, {events_id});
}

std::vector<std::string> ChronicleTask::prefixes() const {
  return {std::string(key_root)};
}

void ChronicleTask::take_event(std::uint64_t number, const KeyValue& record) {
  last_ = std::max(last_, number);
  const auto event = read_record<FleetEvent>(record.value);
  times_[number] = event ? event.value().time : "";
  if (!event || !is_ours(event.value())) return;
  told_[event.value().subject] = event.value();
  std::erase_if(pending_, [&event](const FleetEvent& one) {
    return one.subject == event.value().subject && tells_the_same(one, event.value());
  });
}

// Where the last number that there is has been used, history goes on when that event is gone.
void ChronicleTask::forget_event(std::uint64_t number) {
  times_.erase(number);
  if (last_ == event_number_max) last_ = times_.empty() ? 0 : times_.rbegin()->first;
}

// What waits to be written counts as told.
const FleetEvent* ChronicleTask::last_of(const std::string& subject) const {
  const auto waits = std::find_if(pending_.rbegin(), pending_.rend(),
                                  [&](const FleetEvent& one) { return one.subject == subject; });
  if (waits != pending_.rend()) return &*waits;
  const auto told = told_.find(subject);
  return told == told_.end() ? nullptr : &told->second;
}

void ChronicleTask::note(FleetEvent event) {
  const FleetEvent* last = last_of(event.subject);
  if (last != nullptr && tells_the_same(*last, event)) return;
  event.time = time_(0);
  event.text = brief(event.text);
  pending_.push_back(std::move(event));
}

void ChronicleTask::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::event) return take_event(key->number(), record);
  if (key->kind == KeyKind::settings) {
    const auto settings = read_record<Settings>(record.value);
    settings_ = settings ? cell_settings(settings.value()) : CellSettings{};
  }
  if (key->kind == KeyKind::node_active) instances_.try_emplace(key->names[0]);
  if (key->kind == KeyKind::node_instance) {
    instances_[key->names[0]].insert(key->names[1]);
    silent_since_.erase(key->names[0]);
    const FleetEvent* last = last_of("node/" + key->names[0]);
    if (last != nullptr && last->kind == "silent") note(event_of_silence(key->names[0], false));
  }
  if (auto event = event_of(record)) note(std::move(*event));
}

void ChronicleTask::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::event) forget_event(key->number());
  if (key->kind == KeyKind::settings) settings_ = {};
  if (key->kind == KeyKind::node_active) {
    instances_.erase(key->names[0]);
    silent_since_.erase(key->names[0]);
  }
  const auto node = instances_.find(key->names.empty() ? "" : key->names[0]);
  if (key->kind == KeyKind::node_instance && node != instances_.end()) {
    node->second.erase(key->names[1]);
  }
  auto event = event_of_absence(text);
  const FleetEvent* last = event ? last_of(event->subject) : nullptr;
  if (last != nullptr && last->kind == "stopped") note(std::move(*event));
}

// The events first, so that what they tell is not told again.
void ChronicleTask::take_all(const Reading& reading) {
  times_.clear();
  told_.clear();
  pending_.clear();
  instances_.clear();
  silent_since_.clear();
  settings_ = {};
  last_ = 0;
  gathers_until_.reset();
  Revision told_until = 0;
  for (const KeyValue& record : reading.found) {
    if (!record.key.starts_with(prefix_of(KeyKind::event))) continue;
    take(record);
  }
  for (const auto& [subject, event] : told_)
    told_until = std::max(told_until, event.revision);
  for (const KeyValue& record : reading.found) {
    if (record.key.starts_with(prefix_of(KeyKind::event))) continue;
    if (record.modified >= told_until) {
      take(record);
      continue;
    }
    // Told long ago: it counts, and is no news.
    std::vector<FleetEvent> waiting = std::exchange(pending_, {});
    take(record);
    pending_ = std::move(waiting);
  }
  if (reading.find(key_of(KeyKind::stop)) == nullptr) take_absent(key_of(KeyKind::stop));
}

void ChronicleTask::look_for_silence(Ms now) {
  for (const auto& [node, instances] : instances_) {
    if (!instances.empty()) continue;
    auto& since = silent_since_[node];
    if (!since) since = now;
    if (now >= *since + silence_ms) note(event_of_silence(node, true));
  }
}

std::vector<std::string> ChronicleTask::too_old() const {
  std::vector<std::string> old;
  const std::string oldest = time_(settings_.event_age_s);
  std::size_t left = times_.size() + pending_.size();
  for (const auto& [number, time] : times_) {
    const bool too_many = left > static_cast<std::size_t>(settings_.event_count);
    // The last one stays: it says how far history has been told.
    if (number == last_ || old.size() == events_at_once || (!too_many && time >= oldest)) break;
    old.push_back(key_of(KeyKind::event, {}, number));
    --left;
  }
  return old;
}

Write ChronicleTask::writing(Revision fence, const std::vector<std::string>& old) {
  Write write{{.compares = {{.key = key(), .of = Compare::Of::created, .revision = fence}}}};
  Transaction& transaction = write.transaction;
  if (!pending_.empty()) {
    transaction.compares.push_back({.key = key_of(KeyKind::event, {}, last_ + 1)});
  }
  const std::size_t numbers_left = event_number_max - last_;
  for (std::size_t i = 0; i < std::min({pending_.size(), events_at_once, numbers_left}); ++i) {
    transaction.puts.push_back(
        {key_of(KeyKind::event, {}, last_ + 1 + i), write_record(pending_[i])});
  }
  for (const std::string& one : old)
    transaction.erases.push_back({one});
  return write;
}

DriverStep ChronicleTask::next(Revision fence, Ms now) {
  look_for_silence(now);
  // No number is left: nothing is told until somebody erases the event that has the last one.
  if (last_ == event_number_max) pending_.clear();
  if (!pending_.empty() && !gathers_until_) gathers_until_ = now + event_gather_ms;
  const bool writes = gathers_until_ && now >= *gathers_until_;
  const bool too_many = times_.size() > static_cast<std::size_t>(settings_.event_count);
  const bool prunes = writes || too_many || now >= prune_at_;
  if (prunes) {
    prune_at_ = now + event_prune_ms;
    const auto old = too_old();
    if (writes) gathers_until_.reset();
    if (!old.empty() || (writes && !pending_.empty())) return writing(fence, old);
  }
  Wait wait{.until = prune_at_};
  if (gathers_until_) wait.until = std::min(*wait.until, *gathers_until_);
  for (const auto& [node, since] : silent_since_) {
    if (since && *since + silence_ms > now) {
      wait.until = std::min(*wait.until, *since + silence_ms);
    }
  }
  return wait;
}

std::string ChronicleTask::words(Ms now) const {
  std::string text = "event " + std::to_string(last_) + " pending";
  for (const FleetEvent& event : pending_)
    text += " " + event.subject + "=" + event.kind;
  if (gathers_until_) text += " until " + std::to_string(*gathers_until_ - now);
  return text;
}

}  // namespace fleet
