#include "fleet/model/drivers/budgets.h"

#include <algorithm>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"

namespace fleet {
namespace {

using Labels = std::map<std::string, std::string>;
using Limits = std::map<std::string, std::int64_t>;

// Returns a text that lists the first of `counted`, the nodes that count against a budget. The text
// also says which run (a rollout, plan or desired version) moves each node, or that the node does
// not work: `n7 (rollout/r2), n9 (does not work)`.
std::string holders(const std::map<std::string, std::string>& counted) {
  std::vector<std::string> names;
  for (const auto& [node, by] : counted)
    names.push_back(node + " (" + (by.empty() ? "does not work" : by) + ")");
  return listed(names);
}

}  // namespace

std::string place_value(const std::string& value) {
  constexpr int digits = 16;
  constexpr int bits_a_digit = 4;
  std::string text;
  std::uint64_t sum = place_of("", value);
  for (int i = 0; i < digits; ++i, sum >>= bits_a_digit)
    text += "0123456789abcdef"[sum % 16];
  return text;
}

void Budgets::take(const KeyValue& record) {
  if (const auto key = parse_key(record.key)) take_text(*key, &record);
}

void Budgets::take_absent(const std::string& key) {
  if (const auto parsed = parse_key(key)) take_text(*parsed, nullptr);
}

void Budgets::take_all(const Reading& reading) {
  *this = {};
  for (const KeyValue& record : reading.found)
    take(record);
}

void Budgets::take_node(const NodeView& node) {
  Node& one = nodes_[node.id];
  one = {.given_labels = node.info.labels, .is_in_cell = !node.active.instance.empty()};
  for (const auto& [id, instance] : node.instances)
    one.instances[id] = !instance.degraded.empty();
}

void Budgets::take_text(const ParsedKey& key, const KeyValue* record) {
  const std::vector<std::string>& names = key.names;
  if (key.kind == KeyKind::settings) {
    const auto settings = read_record<Settings>(record == nullptr ? "{}" : record->value);
    limits_ = settings ? cell_settings(settings.value()).unavailable : Limits{};
  }
  if (key.kind == KeyKind::place) {
    auto& places = taken_[{names[0], names[1]}];
    const std::int64_t number = std::stoll("0" + names[2]);
    places.erase(number);
    if (record == nullptr) return;
    // A budget place counts as taken even if its record cannot be read.
    const auto place = read_record<BudgetPlace>(record->value);
    places[number] = {place ? place.value().node : "", place ? place.value().by : "somebody",
                      record->modified};
  }
  if (key.kind == KeyKind::node_info) {
    const auto info = read_record<NodeInfo>(record == nullptr ? "{}" : record->value);
    nodes_[names[0]].reported_labels = info ? info.value().labels : Labels{};
  }
  if (key.kind == KeyKind::node_active) nodes_[names[0]].is_in_cell = record != nullptr;
  if (key.kind == KeyKind::node_instance) {
    auto& instances = nodes_[names[0]].instances;
    instances.erase(names[1]);
    if (record == nullptr) return;
    const auto instance = read_record<Instance>(record->value);
    instances[names[1]] = instance && !instance.value().degraded.empty();
  }
  if (const auto node = node_identified_by(key)) {
    nodes_[*node].given_labels = record ? labels_given(*record) : Labels{};
  }
}

std::string Budgets::value_of(const std::string& node, const std::string& label) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return "";
  const auto given = found->second.given_labels.find(label);
  if (given != found->second.given_labels.end()) return given->second;
  const auto reported = found->second.reported_labels.find(label);
  return reported == found->second.reported_labels.end() ? "" : reported->second;
}

bool Budgets::exists(const std::string& node) const {
  const auto found = nodes_.find(node);
  return node.empty() || (found != nodes_.end() && found->second.is_in_cell);
}

bool Budgets::works(const std::string& node) const {
  const auto found = nodes_.find(node);
  // A node that was removed from the cell must not count against a budget, so it is treated as a
  // node that works.
  if (found == nodes_.end() || !found->second.is_in_cell) return true;
  const auto& instances = found->second.instances;
  return !instances.empty() && std::none_of(instances.begin(), instances.end(),
                                            [](const auto& one) { return one.second; });
}

std::map<std::string, std::string> Budgets::counted_in(const Domain& domain,
                                                       const std::string& value) const {
  std::map<std::string, std::string> counted;
  for (const auto& [id, node] : nodes_) {
    if (!works(id) && value_of(id, domain.first) == value) counted[id] = "";
  }
  const auto places = taken_.find(domain);
  if (places == taken_.end()) return counted;
  for (const auto& [number, taken] : places->second) {
    if (!exists(taken.node)) continue;
    counted[taken.node.empty() ? "place " + std::to_string(number) : taken.node] = taken.by;
  }
  return counted;
}

std::map<Budgets::Domain, Budgets::Need> Budgets::needs_of(
    const std::vector<std::string>& nodes) const {
  std::map<Domain, Need> needs;
  for (const auto& [label, most] : limits_) {
    for (const std::string& node : nodes) {
      const std::string value = value_of(node, label);
      if (value.empty()) continue;
      Need& need = needs[Domain{label, place_value(value)}];
      need.value = value;
      need.nodes.insert(node);
    }
  }
  return needs;
}

std::size_t Budgets::fitting(const std::vector<std::string>& nodes) const {
  std::map<std::pair<std::string, std::string>, std::int64_t> wanted;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& [label, most] : limits_) {
      const std::string value = value_of(nodes[i], label);
      if (!value.empty() && ++wanted[{label, value}] > most) return i;
    }
  }
  return nodes.size();
}

std::size_t Budgets::fitting_now(const std::string& by,
                                 const std::vector<std::string>& nodes) const {
  const auto has_to_wait = [&](std::size_t count) {
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(count);
    return !ask(by, {nodes.begin(), end}, 0).waits_for.empty();
  };
  std::size_t fits = std::min<std::size_t>(nodes.size(), 1);
  std::size_t most = fitting(nodes);
  if (!has_to_wait(most)) return most;
  while (fits < most) {
    const std::size_t middle = (fits + most) / 2;
    if (has_to_wait(middle + 1)) {
      most = middle;
    } else {
      fits = middle + 1;
    }
  }
  return fits;
}

std::vector<std::string> Budgets::aparts() const {
  std::vector<std::string> aparts;
  for (const auto& [label, most] : limits_)
    aparts.push_back(label + ":" + std::to_string(most));
  return aparts;
}

std::vector<PlacedNode> Budgets::placed(const std::vector<std::string>& nodes) const {
  std::vector<PlacedNode> placed;
  for (const std::string& id : nodes) {
    PlacedNode& node = placed.emplace_back(PlacedNode{.id = id});
    for (const auto& [label, most] : limits_) {
      const std::string value = value_of(id, label);
      if (!value.empty()) node.labels[label] = value;
    }
  }
  return placed;
}

std::string Budgets::limits_text() const {
  std::vector<std::string> texts;
  for (const auto& [label, most] : limits_)
    texts.push_back("unavailable." + label + "=" + std::to_string(most));
  return listed(texts);
}

// Returns the numbers of free budget places, the lowest first: at most `most_wanted` numbers, all
// below `most`. A place is free if no node has taken it, or if the node that has taken it was
// removed from the cell.
std::vector<std::int64_t> Budgets::free_numbers(const Domain& domain, std::int64_t most,
                                                std::size_t most_wanted) const {
  std::vector<std::int64_t> numbers;
  const auto there = taken_.find(domain);
  for (std::int64_t number = 0; number < most && numbers.size() < most_wanted; ++number) {
    const bool is_free = there == taken_.end() || !there->second.contains(number) ||
                         !exists(there->second.at(number).node);
    if (is_free) numbers.push_back(number);
  }
  return numbers;
}

PlacesAnswer Budgets::ask(const std::string& by, const std::vector<std::string>& nodes,
                          std::size_t room) const {
  PlacesAnswer answer{.has_all = true};
  for (const auto& [domain, need] : needs_of(nodes)) {
    const std::int64_t most = limits_.at(domain.first);
    const std::string what = domain.first + "=" + brief(need.value, label_bytes_max) + ": ";
    const auto wanted = static_cast<std::int64_t>(need.nodes.size());
    if (wanted > most) {
      answer.impossible = what + std::to_string(wanted) + " nodes need a place, and there are " +
                          std::to_string(most);
      return answer;
    }
    auto others = counted_in(domain, need.value);
    std::set<std::string> missing = need.nodes;
    const auto there = taken_.find(domain);
    static const std::map<std::int64_t, Taken> none;
    const auto& places = there == taken_.end() ? none : there->second;
    for (const auto& [number, taken] : places) {
      if (taken.by == by && need.nodes.contains(taken.node)) missing.erase(taken.node);
    }
    for (const std::string& node : need.nodes) {
      const auto same = others.find(node);
      if (same != others.end() && (same->second == by || same->second.empty())) others.erase(same);
    }
    if (missing.empty()) continue;
    answer.has_all = false;
    const std::vector<std::int64_t> free = free_numbers(domain, most, missing.size());
    const bool is_room = free.size() == missing.size();
    const auto taken = is_room ? static_cast<std::int64_t>(others.size())
                               : most - static_cast<std::int64_t>(free.size());
    if (taken + wanted > most) {
      answer.waits_for = what + std::to_string(taken) + " of " + std::to_string(most) +
                         " places are taken, by " + holders(others);
      if (taken < most) answer.waits_for += "; " + std::to_string(wanted) + " are needed";
      return answer;
    }
    auto number = free.begin();
    for (const std::string& node : missing) {
      if (answer.puts.size() >= room) break;
      const auto at = places.find(*number);
      const std::string key =
          key_of(KeyKind::place, {domain.first, domain.second, std::to_string(*number++)});
      answer.compares.push_back(
          {.key = key, .revision = at == places.end() ? 0 : at->second.modified});
      answer.puts.push_back(
          {.key = key,
           .value = write_record(BudgetPlace{.node = node, .by = by, .value = need.value})});
    }
  }
  return answer;
}

bool Budgets::give_back(Transaction& transaction, const std::string& by,
                        const std::string& node) const {
  bool any = false;
  for (const auto& [domain, places] : taken_) {
    for (const auto& [number, taken] : places) {
      if (taken.by != by || taken.node != node) continue;
      const std::string key =
          key_of(KeyKind::place, {domain.first, domain.second, std::to_string(number)});
      transaction.compares.push_back({.key = key, .revision = taken.modified});
      transaction.erases.push_back({.key = key});
      any = true;
    }
  }
  return any;
}

std::set<std::string> Budgets::nodes_of(const std::string& by) const {
  std::set<std::string> nodes;
  for (const auto& [domain, places] : taken_) {
    for (const auto& [number, taken] : places) {
      if (taken.by == by) nodes.insert(taken.node);
    }
  }
  return nodes;
}

}  // namespace fleet
