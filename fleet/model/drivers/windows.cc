#include "fleet/model/drivers/windows.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

constexpr std::array<std::string_view, 7> day_names = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

// An opening is searched for in the time from now to this many seconds later. Each day of the week
// begins in that time.
constexpr std::int64_t search_seconds = 8 * day_seconds;

std::int64_t seconds_of(Ms takes) {
  return (takes + 999) / 1'000;
}

// Parses the start of a window, such as `22:30`. Returns it in seconds after midnight, or no value
// if the text is not valid.
std::optional<std::int64_t> start_of(const std::string& text) {
  const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return hours * std::int64_t{3'600} + minutes * std::int64_t{60};
}

bool is_of_day(const Window& window, std::int64_t day) {
  if (window.days.empty()) return true;
  const std::chrono::weekday on{std::chrono::sys_days(std::chrono::days(day))};
  const std::string_view name = day_names[on.c_encoding()];
  return std::find(window.days.begin(), window.days.end(), name) != window.days.end();
}

std::int64_t day_of(std::int64_t local) {
  return local >= 0 ? local / day_seconds : (local - day_seconds + 1) / day_seconds;
}

// Returns whether the record at this key may change the maintenance window of a node.
bool is_about_windows(const ParsedKey& key) {
  return key.kind == KeyKind::window || key.kind == KeyKind::node_info ||
         node_identified_by(key).has_value();
}

bool is_utc(const std::string& name) {
  return name.empty() || name == "UTC";
}

}  // namespace

std::optional<std::string> why_no_window(const Window& window) {
  if (!start_of(window.start)) return "start \"" + window.start + "\" is no HH:MM";
  if (window.duration_s < 60 || window.duration_s > window_seconds_max) {
    return "a duration is a minute to seven days";
  }
  for (const std::string& day : window.days) {
    if (std::find(day_names.begin(), day_names.end(), day) == day_names.end()) {
      return "\"" + day + "\" is no day (mon, tue, wed, thu, fri, sat, sun)";
    }
  }
  return std::nullopt;
}

std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone, UnixSeconds now) {
  if (why_no_window(window)) return std::nullopt;
  const std::int64_t start = *start_of(window.start);
  const std::int64_t today = day_of(now + zone.offset_at(now));
  // Try each day on which the window may open: from the earliest day whose opening may still last,
  // until a week from today, so that each day of the week is tried.
  const std::int64_t earliest = today - window.duration_s / day_seconds - 2;
  std::optional<OpenWindow> next;
  bool has_gap = false;
  for (std::int64_t day = earliest; day <= today + 8; ++day) {
    if (!is_of_day(window, day)) continue;
    const UnixSeconds begins = zone.moment_of(day * day_seconds + start);
    const UnixSeconds ends = begins + window.duration_s;
    has_gap = next && begins > next->ends;
    if (has_gap) break;
    // If the window opens again before the earlier opening ends, both count as one opening.
    if (next) {
      next->ends = std::max(next->ends, ends);
    } else if (ends > now) {
      next = OpenWindow{begins, ends};
    }
  }
  // An opening without a gap in a whole week has none in the next week either.
  if (next && !has_gap && next->ends - next->begins >= 7 * day_seconds) next->ends = never_ends;
  return next;
}

std::optional<UnixSeconds> first_moment(const Window& window, const TimeZone& zone,
                                        UnixSeconds from, std::int64_t takes_seconds) {
  const UnixSeconds last = from + search_seconds;
  auto open = next_window(window, zone, from);
  while (open && open->begins <= last) {
    const UnixSeconds begins = std::max(from, open->begins);
    if (begins + takes_seconds <= open->ends) return begins;
    open = next_window(window, zone, open->ends);
  }
  return std::nullopt;
}

std::string countdown(std::int64_t seconds) {
  if (seconds <= 0) return "0s";
  std::string text;
  auto part = [&text, left = seconds](std::int64_t unit, char letter) mutable {
    if (left / unit > 0) text += std::to_string(left / unit) + letter;
    left %= unit;
  };
  part(day_seconds, 'd');
  part(3'600, 'h');
  part(60, 'm');
  part(1, 's');
  return text;
}

// ---- the maintenance windows of a cell

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
    take_node(key->names[0], read ? read.value() : NodeInfo{});
  }
  if (const auto node = node_identified_by(*key)) {
    const auto labels = labels_given(record);
    const auto group = labels.find(std::string(group_label));
    given_groups_.erase(*node);
    if (group != labels.end()) given_groups_[*node] = group->second;
  }
}

void WindowView::take_node(const std::string& node, const NodeInfo& info) {
  ++changes_;
  const auto group = info.labels.find(std::string(group_label));
  nodes_[node] = {group == info.labels.end() ? "" : group->second, info.time_zone};
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

WindowView::Node WindowView::known(const std::string& node) const {
  const auto found = nodes_.find(node);
  Node known = found == nodes_.end() ? Node{} : found->second;
  const auto given = given_groups_.find(node);
  if (given != given_groups_.end()) known.group = given->second;
  return known;
}

Opening WindowView::opening(const std::string& node, Ms takes, Ms now) const {
  const Node here = known(node);
  const Held* held = window_of(here);
  return held == nullptr ? Opening{} : opening(*held, here, takes, now);
}

Opening WindowView::opening(const std::vector<std::string>& nodes, Ms takes, Ms now) const {
  Opening all;
  for (const std::string& node : nodes) {
    const Opening one = opening(node, takes, now);
    if (one.is_open) continue;
    if (!one.until) return {false, std::nullopt, node + ": " + one.why};
    if (all.is_open || *one.until > *all.until) all = {false, one.until, node + ": " + one.why};
  }
  return all.is_open ? all : common_opening(nodes, all, takes, now);
}

// Returns when the windows of all `nodes` are open together. Each of them opens for long enough.
// `last` is the opening of the node whose window opens last.
Opening WindowView::common_opening(const std::vector<std::string>& nodes, const Opening& last,
                                   Ms takes, Ms now) const {
  std::map<std::pair<const Window*, std::string>, std::string>
      hours;  // with the first node of each
  for (const std::string& node : nodes) {
    const Node here = known(node);
    const Held* held = window_of(here);
    if (held != nullptr) hours.try_emplace({&held->window, zone_name(*held, here)}, node);
  }
  const UnixSeconds wall = clock_->first + (now - clock_->second) / 1'000;
  const std::int64_t seconds = seconds_of(takes);
  for (UnixSeconds moment = wall; moment <= wall + search_seconds;) {
    UnixSeconds next = moment;
    for (const auto& [hour, node] : hours) {
      const auto begins = first_moment(*hour.first, zone_of(hour.second).value(), moment, seconds);
      next = std::max(next, begins.value_or(wall + search_seconds + 1));
    }
    if (next > moment) {
      moment = next;
      continue;
    }
    const Ms until = now + (moment - wall) * 1'000;
    if (until == last.until) return last;
    return {false, until,
            "the windows of all its nodes are open together in " + countdown(moment - wall)};
  }
  std::vector<std::string> names;
  for (const auto& [hour, node] : hours)
    names.push_back(node);
  std::sort(names.begin(), names.end());
  return {false, std::nullopt,
          listed(names) + ": their windows are never open at the same time for long enough"};
}

// Returns the name of the time zone by which the window opens on this node.
const std::string& WindowView::zone_name(const Held& held, const Node& node) {
  return held.window.time_zone == site_local ? node.time_zone : held.window.time_zone;
}

Opening WindowView::opening(const Held& held, const Node& node, Ms takes, Ms now) const {
  if (!held.damage.empty()) return {false, std::nullopt, "its window " + held.damage};
  if (!clock_) return {false, std::nullopt, "nobody knows what time it is"};
  const std::string& name = zone_name(held, node);
  if (name.empty() && held.window.time_zone == site_local) {
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
  const UnixSeconds wall = clock_->first + (now - clock_->second) / 1'000;
  const auto begins = first_moment(window, zone.value(), wall, seconds_of(takes));
  if (!begins) return {false, std::nullopt, "it takes longer than its window is open"};
  if (*begins == wall) return {};
  return {false, now + (*begins - wall) * 1'000,
          "its window opens in " + countdown(*begins - wall)};
}

const Result<TimeZone>& WindowView::zone_of(const std::string& name) const {
  const auto found = known_zones_.find(name);
  if (found != known_zones_.end()) return found->second;
  return known_zones_.emplace(name, is_utc(name) ? TimeZone::utc() : zones_(name)).first->second;
}

}  // namespace fleet
