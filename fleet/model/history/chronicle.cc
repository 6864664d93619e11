#include "fleet/model/history/chronicle.h"

#include <algorithm>
#include <utility>

#include "fleet/model/history/events.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The most events in one transaction. The store limits both the number of operations (writes,
// erasures and compares) of a transaction and its bytes. The assertions below check both limits.
constexpr std::size_t events_at_once = 50;
// The most notes that one transaction turns into events. A note is the record of an order by a
// person who may not write events.
constexpr std::size_t notes_at_once = 10;
static_assert(2 * (events_at_once + notes_at_once) < operations_max);
static_assert((events_at_once + notes_at_once) * (key_bytes_max + 4 * text_bytes_max) <
              transaction_bytes_max);

// The beginning of the subject of an event about a silent node: `node/NODE`.
constexpr std::string_view node_subject = "node/";

// Returns whether a controller has made this event. Events of the kind `ordered` come from the
// programs with which people give orders.
bool is_ours(const FleetEvent& event) {
  return event.kind != "ordered";
}

// Returns whether the event `other` only repeats `one`, the last event with the same subject, so
// that `other` need not be written. It does if kind, text and trace (the id of the order that the
// event follows from) are equal. So if a person desires the same version again, a second event is
// written. For an event of an upgrade, the trace is ignored, since one command may begin the
// upgrade, and another one may confirm it.
bool tells_the_same(const FleetEvent& one, const FleetEvent& other) {
  // The text of an event `degraded` may end with a list of rollouts that may be the cause: see
  // suspects_mark in failure_causes.h. The list is not compared, since it has counts that change
  // all the time.
  const auto told = [](const FleetEvent& event) {
    return std::string_view(event.text).substr(0, event.text.find(suspects_mark));
  };
  const bool same_trace = one.trace == other.trace || one.kind.starts_with("upgrade-");
  return one.kind == other.kind && told(one) == told(other) && same_trace;
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
  events_[number] = event ? Kept{event.value().time, event.value().subject} : Kept{};
  if (!event || !is_ours(event.value())) return;
  const std::string& subject = event.value().subject;
  told_[subject] = {number, event.value()};
  const auto waits = pending_count_.find(subject);
  if (waits == pending_count_.end()) return;
  // The event is in the store now, so remove it from pending_. The search is short, since the
  // events are written in the order of pending_.
  const auto written = std::find_if(pending_.begin(), pending_.end(), [&](const FleetEvent& one) {
    return one.subject == subject && tells_the_same(one, event.value());
  });
  if (written == pending_.end()) return;
  pending_.erase(written);
  if (--waits->second == 0) pending_count_.erase(waits);
}

// Forgets an event that was erased. Also forgets the event's subject if no later event has the same
// subject. Otherwise the number of known subjects would grow for ever, since each process of
// fleet-agent is a subject of its own.
void ChronicleTask::forget_event(std::uint64_t number) {
  const auto event = events_.find(number);
  if (event == events_.end()) return;
  const auto told = told_.find(event->second.subject);
  const bool is_last = told != told_.end() && told->second.number == number;
  if (is_last && !has_an_end(told->second.event)) told_.erase(told);
  events_.erase(event);
  // If the erased event had the highest possible number, no event could be written after it. New
  // events now get the numbers after the last event that remains.
  if (last_ == event_number_max) last_ = events_.empty() ? 0 : events_.rbegin()->first;
}

// Returns whether the event reports the beginning of a state, such as silence, that has not ended
// yet. Such an event must not be forgotten: without it, no event about the end of the state would
// be written.
bool ChronicleTask::has_an_end(const FleetEvent& event) const {
  if (event.kind == "stopped") return true;
  const bool is_nodes = event.subject.starts_with(node_subject);
  return event.kind == "silent" && is_nodes &&
         instances_.contains(event.subject.substr(node_subject.size()));
}

// Returns the last event of a subject, which may be a pending event. Returns null if the subject
// has no events.
const FleetEvent* ChronicleTask::last_of(const std::string& subject) const {
  if (pending_count_.contains(subject)) {
    return &*std::find_if(pending_.rbegin(), pending_.rend(),
                          [&](const FleetEvent& one) { return one.subject == subject; });
  }
  const auto told = told_.find(subject);
  return told == told_.end() ? nullptr : &told->second.event;
}

void ChronicleTask::note(FleetEvent event) {
  if (takes_old_) return;
  event.text = brief(event.text);
  const FleetEvent* last = last_of(event.subject);
  if (last != nullptr && tells_the_same(*last, event)) return;
  event.time = time_(0);
  ++pending_count_[event.subject];
  pending_.push_back(std::move(event));
}

void ChronicleTask::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::event) return take_event(key->number(), record);
  if (key->kind == KeyKind::order) notes_[record.key] = record;
  if (key->kind == KeyKind::epoch) epoch_ = record.value;
  retention_.take(*key, record);
  if (key->kind == KeyKind::settings) {
    const auto settings = read_record<Settings>(record.value);
    settings_ = settings ? cell_settings(settings.value()) : CellSettings{};
  }
  if (key->kind == KeyKind::node_active) {
    if (instances_.try_emplace(key->names[0]).second) expect_silence(key->names[0]);
  }
  if (key->kind == KeyKind::node_instance) take_instance(key->names[0], key->names[1]);
  suspects_.take(*key, record);
  auto event = event_of(record);
  if (!event) return;
  if (event->kind == "degraded") event->text += suspects_.words(key->names[0]);
  note(std::move(*event));
}

void ChronicleTask::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::event) forget_event(key->number());
  if (key->kind == KeyKind::order) notes_.erase(text);
  if (key->kind == KeyKind::epoch) epoch_.reset();
  retention_.take_absent(*key);
  suspects_.take_absent(*key);
  if (key->kind == KeyKind::settings) settings_ = {};
  if (key->kind == KeyKind::node_active) take_node_absent(key->names[0]);
  const auto node = instances_.find(key->names.empty() ? "" : key->names[0]);
  if (key->kind == KeyKind::node_instance && node != instances_.end()) {
    node->second.erase(key->names[1]);
    if (node->second.empty()) expect_silence(node->first);
  }
  auto event = event_of_absence(text, epoch_ ? &*epoch_ : nullptr);
  const FleetEvent* last = event ? last_of(event->subject) : nullptr;
  if (last != nullptr && last->kind == "stopped") note(std::move(*event));
}

// Replaces all that this task knows by the records that were read from the store. Handles the
// events among these records first. The task then knows which changes have an event already, and
// makes no second event for them.
void ChronicleTask::take_all(const Reading& reading) {
  const Ms prune_at = prune_at_;
  *this = ChronicleTask(time_);
  prune_at_ = prune_at;
  Revision told_until = 0;
  for (const KeyValue& record : reading.found) {
    if (!record.key.starts_with(prefix_of(KeyKind::event))) continue;
    take(record);
  }
  // Pass all records to suspects_ before the last loop, which makes the events. An event `degraded`
  // names the rollouts that may be the cause, and the records of nodes come before the records of
  // rollouts.
  for (const KeyValue& record : reading.found) {
    const auto key = parse_key(record.key);
    if (key) suspects_.take(*key, record);
  }
  for (const auto& [subject, told] : told_) {
    // Find the latest change that has an event. Ignore an event that names a later change than the
    // store has made: no controller has written such an event.
    if (told.event.revision <= reading.revision)
      told_until = std::max(told_until, told.event.revision);
  }
  for (const KeyValue& record : reading.found) {
    if (record.key.starts_with(prefix_of(KeyKind::event))) continue;
    takes_old_ = record.modified < told_until;
    take(record);
  }
  takes_old_ = false;
  if (reading.find(key_of(KeyKind::stop)) == nullptr) take_absent(key_of(KeyKind::stop));
}

// ---- silent nodes

void ChronicleTask::take_instance(const std::string& node, const std::string& instance) {
  instances_[node].insert(instance);
  expect_no_silence(node);
  const FleetEvent* last = last_of(std::string(node_subject) + node);
  if (last != nullptr && last->kind == "silent") note(event_of_silence(node, false));
}

// Handles the removal of a node's record `active`: a person has removed the node from the cell. The
// history does not report the silence of such a node. If the node comes back, it counts as a new
// node.
void ChronicleTask::take_node_absent(const std::string& node) {
  instances_.erase(node);
  expect_no_silence(node);
  const auto told = told_.find(std::string(node_subject) + node);
  if (told != told_.end() && !events_.contains(told->second.number)) told_.erase(told);
}

void ChronicleTask::expect_silence(const std::string& node) {
  if (!since_.contains(node)) newly_quiet_.insert(node);
}

void ChronicleTask::expect_no_silence(const std::string& node) {
  newly_quiet_.erase(node);
  const auto since = since_.find(node);
  if (since == since_.end()) return;
  quiet_since_.erase({since->second, node});
  since_.erase(since);
}

void ChronicleTask::look_for_silence(Ms now) {
  for (const std::string& node : newly_quiet_) {
    quiet_since_.insert({now, node});
    since_[node] = now;
  }
  newly_quiet_.clear();
  while (!quiet_since_.empty() && now >= quiet_since_.begin()->first + silence_ms) {
    const std::string node = quiet_since_.begin()->second;
    expect_no_silence(node);
    note(event_of_silence(node, true));
  }
}

std::vector<std::string> ChronicleTask::too_old() const {
  std::vector<std::string> old;
  const std::string oldest = time_(settings_.event_age_s);
  std::size_t left = events_.size() + pending_.size();
  for (const auto& [number, event] : events_) {
    const bool too_many = left > static_cast<std::size_t>(settings_.event_count);
    // The last event is never erased: a controller that takes over needs it to find out up to which
    // change the history is complete.
    if (number == last_ || old.size() == events_at_once || (!too_many && event.time >= oldest))
      break;
    old.push_back(key_of(KeyKind::event, {}, number));
    --left;
  }
  return old;
}

// Returns the notes (orders that have no event yet) in the order in which they were written. notes_
// is sorted by their keys, which are random.
std::vector<const KeyValue*> ChronicleTask::notes_in_order() const {
  std::vector<const KeyValue*> notes;
  for (const auto& [key, record] : notes_)
    notes.push_back(&record);
  std::stable_sort(notes.begin(), notes.end(), [](const KeyValue* one, const KeyValue* other) {
    return one->modified < other->modified;
  });
  return notes;
}

Write ChronicleTask::writing(Revision fence, const std::vector<std::string>& old) {
  Write write{{.compares = {{.key = key(), .of = Compare::Of::created, .revision = fence}}}};
  Transaction& transaction = write.transaction;
  const std::size_t numbers_left = event_number_max - last_;
  const std::size_t count = std::min({pending_.size(), events_at_once, numbers_left});
  const auto add = [&](const FleetEvent& event) {
    const std::uint64_t number = last_ + 1 + transaction.puts.size();
    transaction.puts.push_back({key_of(KeyKind::event, {}, number), write_record(event)});
  };
  if (!pending_.empty() || !notes_.empty()) {
    transaction.compares.push_back({.key = key_of(KeyKind::event, {}, last_ + 1)});
  }
  for (std::size_t i = 0; i < count; ++i)
    add(pending_[i]);
  for (const KeyValue* note : notes_in_order()) {
    if (transaction.puts.size() == std::min(count + notes_at_once, numbers_left)) break;
    add(event_of_note(*note, time_(0)));
    transaction.compares.push_back({.key = note->key, .revision = note->modified});
    transaction.erases.push_back({note->key});
  }
  for (const std::string& one : old)
    transaction.erases.push_back({one});
  return write;
}

DriverStep ChronicleTask::next(Revision fence, Ms now) {
  look_for_silence(now);
  // No event can be written after the event with the highest possible number, until somebody erases
  // that event.
  if (last_ == event_number_max) {
    notes_.clear();
    pending_.clear();
    pending_count_.clear();
  }
  const bool has_news = !pending_.empty() || !notes_.empty();
  if (has_news && !gathers_until_) gathers_until_ = now + event_gather_ms;
  const bool writes = gathers_until_ && now >= *gathers_until_;
  const bool too_many = events_.size() > static_cast<std::size_t>(settings_.event_count);
  const bool prunes = writes || too_many || now >= prune_at_;
  if (prunes) {
    prune_at_ = now + event_prune_ms;
    retains_ = true;
    const auto old = too_old();
    if (writes) gathers_until_.reset();
    if (!old.empty() || (writes && has_news)) return writing(fence, old);
  }
  if (retains_) {
    if (auto kept = retention_.next(settings_, time_)) {
      kept->compares.insert(kept->compares.begin(),
                            {.key = key(), .of = Compare::Of::created, .revision = fence});
      return Write{std::move(*kept)};
    }
    retains_ = false;
  }
  Wait wait{.until = prune_at_};
  if (gathers_until_) wait.until = std::min(*wait.until, *gathers_until_);
  if (!quiet_since_.empty()) {
    wait.until = std::min(*wait.until, quiet_since_.begin()->first + silence_ms);
  }
  return wait;
}

std::string ChronicleTask::words(Ms now) const {
  std::string text = "event " + std::to_string(last_) + " pending";
  for (const FleetEvent& event : pending_)
    text += " " + event.subject + "=" + event.kind;
  for (const auto& [note, record] : notes_)
    text += " " + note;
  if (gathers_until_) text += " until " + std::to_string(*gathers_until_ - now);
  return text;
}

}  // namespace fleet
