#include "fleet/model/window_view.h"

#include <algorithm>

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Returns whether the record at this key may change the maintenance window of a node.
bool is_about_windows(const ParsedKey& key) {
  return key.kind == KeyKind::window || key.kind == KeyKind::node_info ||
         node_identified_by(key).has_value();
}

bool is_utc(const std::string& name) {
  return name.empty() || name == "UTC";
}

}  // namespace

void WindowView::set_wall(UnixSeconds shown, Ms now) {
  ++changes_;
  clock_ = {shown, now};
  known_zones_.clear();
  answers_.clear();
}

void WindowView::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (is_about_windows(*key)) ++changes_;
  if (key->kind == KeyKind::window) {
    answers_.clear();
    const auto read = read_record<Window>(record.value);
    Held held{key->names[0], read ? read.value() : Window{}, read ? "" : read.reason()};
    if (read) held.damage = why_no_window(read.value()).value_or("");
    windows_[key->names[0]] = std::move(held);
  }
  if (key->kind == KeyKind::node_info) {
    const auto read = read_record<NodeInfo>(record.value);
    const NodeInfo info = read ? read.value() : NodeInfo{};
    const auto group = info.labels.find(std::string(group_label));
    nodes_[key->names[0]] = {group == info.labels.end() ? "" : group->second, info.time_zone};
  }
  if (const auto node = node_identified_by(*key)) {
    const auto labels = labels_given(record);
    const auto group = labels.find(std::string(group_label));
    given_groups_.erase(*node);
    if (group != labels.end()) given_groups_[*node] = group->second;
  }
}

void WindowView::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (key && is_about_windows(*key)) ++changes_;
  if (key && key->kind == KeyKind::window) {
    answers_.clear();
    windows_.erase(key->names[0]);
  }
  if (key && key->kind == KeyKind::node_info) nodes_.erase(key->names[0]);
  if (const auto node = key ? node_identified_by(*key) : std::nullopt) given_groups_.erase(*node);
}

void WindowView::take_all(const Reading& reading) {
  ++changes_;
  answers_.clear();
  windows_.clear();
  nodes_.clear();
  given_groups_.clear();
  for (const KeyValue& record : reading.found)
    take(record);
}

const WindowView::Held* WindowView::window_of(const Node& node) const {
  auto found = windows_.find(node.group);
  if (found == windows_.end()) found = windows_.find(std::string(window_of_all));
  return found == windows_.end() ? nullptr : &found->second;
}

Opening WindowView::opening(const std::string& node, Ms takes, Ms now) const {
  const auto found = nodes_.find(node);
  Node known = found == nodes_.end() ? Node{} : found->second;
  const auto given = given_groups_.find(node);
  if (given != given_groups_.end()) known.group = given->second;
  const Held* held = window_of(known);
  return held == nullptr ? Opening{} : opening(*held, known, takes, now);
}

// Returns whether the windows of all `nodes` are open. If some are closed, `until` is when the last
// of them opens. The caller has to ask again at that time, since another window may have closed by
// then.
Opening WindowView::opening(const std::vector<std::string>& nodes, Ms takes, Ms now) const {
  Opening all;
  for (const std::string& node : nodes) {
    const Opening one = opening(node, takes, now);
    if (one.is_open) continue;
    if (!one.until) return {false, std::nullopt, node + ": " + one.why};
    if (all.is_open || *one.until > *all.until) all = {false, one.until, node + ": " + one.why};
  }
  return all;
}

Opening WindowView::opening(const Held& held, const Node& node, Ms takes, Ms now) const {
  if (!held.damage.empty()) return {false, std::nullopt, "its window " + held.damage};
  if (!clock_) return {false, std::nullopt, "nobody knows what time it is"};
  const std::string& wanted = held.window.time_zone;
  const std::string& name = wanted == site_local ? node.time_zone : wanted;
  if (name.empty() && wanted == site_local) {
    return {false, std::nullopt, "it does not say its time zone"};
  }
  if (now != answered_at_) answers_.clear();
  answered_at_ = now;
  const auto [at, is_new] = answers_.try_emplace({held.group, name, takes});
  if (is_new) at->second = opening(held, name, takes, now);
  return at->second;
}

Opening WindowView::opening(const Held& held, const std::string& name, Ms takes, Ms now) const {
  const Window& window = held.window;
  const Result<TimeZone>& zone = zone_of(name);
  if (!zone) return {false, std::nullopt, "time zone " + name + ": " + zone.reason()};
  const std::int64_t seconds = (takes + 999) / 1'000;
  if (seconds > window.duration_s) {
    return {false, std::nullopt, "it takes longer than its window is open"};
  }
  const UnixSeconds wall = clock_->first + (now - clock_->second) / 1'000;
  if (may_begin(window, zone.value(), wall, seconds)) return {};
  auto next = next_window(window, zone.value(), wall);
  if (next && next->begins <= wall) next = next_window(window, zone.value(), next->ends);
  if (!next) return {false, std::nullopt, "its window never opens"};
  return {false, now + (next->begins - wall) * 1'000,
          "its window opens in " + countdown(next->begins - wall)};
}

const Result<TimeZone>& WindowView::zone_of(const std::string& name) const {
  const auto found = known_zones_.find(name);
  if (found != known_zones_.end()) return found->second;
  return known_zones_.emplace(name, is_utc(name) ? TimeZone::utc() : zones_(name)).first->second;
}

}  // namespace fleet
