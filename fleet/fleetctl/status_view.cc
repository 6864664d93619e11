#include "fleet/fleetctl/status_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "fleet/fleetctl/held.h"
#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/reasons/held.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace fleetctl {
namespace {

using fleet::json_number;
using fleet::json_object;
using fleet::JsonTree;
using fleet::KeyKind;

JsonTree count(std::size_t number) {
  return json_number(static_cast<std::int64_t>(number));
}

JsonTree node_counts(const fleet::Reading& reading) {
  std::size_t all = 0;
  std::size_t reporting = 0;
  std::size_t degraded = 0;
  for (const fleet::NodeView& node : nodes_in(reading)) {
    ++all;
    if (node.reports()) ++reporting;
    if (!node.degraded().empty()) ++degraded;
  }
  JsonTree tree = json_object();
  tree.members["all"] = count(all);
  tree.members["reporting"] = count(reporting);
  tree.members["degraded"] = count(degraded);
  return tree;
}

JsonTree controllers(const fleet::Reading& reading) {
  fleet::ControllersAtWork all;
  for (const fleet::KeyValue& found : reading.found)
    all.take(found);
  JsonTree tree = json_object();
  tree.members["living"] = fleet::json_texts(all.living());
  tree.members["silent"] = fleet::json_texts(all.silent());
  return tree;
}

JsonTree wishes(const fleet::Reading& reading) {
  JsonTree tree = json_object();
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::desired) continue;
    const auto wish = fleet::read_record<fleet::Desired>(found.value);
    tree.members[key->names.front()] = fleet::json_text(wish ? wish.value().version : "");
  }
  return tree;
}

using fleet::UnixSeconds;

// A certificate is counted as `ending` from this many days before its expiry.
constexpr UnixSeconds soon_days = 30;

std::string days_left(UnixSeconds until, UnixSeconds now) {
  if (until <= now) return "expired";
  return fleet::counted((until - now) / fleet::day_seconds, "day");
}

struct Found {
  // when the certificates of nodes and people expire, by the names in them
  std::map<std::string, UnixSeconds> expiries = {};
  std::size_t revoked = 0;
  // The revoked people and nodes whose connections to the store may still be open.
  std::vector<std::string> not_yet = {};
  std::vector<std::string> waiting = {};  // nodes that wait for a new certificate
  // The size, in bytes, of each node's records in the store.
  std::map<std::string, std::size_t> bytes = {};
};

Found look_at(const fleet::Reading& reading) {
  Found found;
  for (const fleet::KeyValue& record : reading.found) {
    const auto key = fleet::parse_key(record.key);
    if (!key) continue;
    if (key->kind == KeyKind::node_csr) found.waiting.push_back(key->names.front());
    if (fleet::is_of_node(key->kind)) {
      found.bytes[key->names.front()] += record.key.size() + record.value.size();
    }
    if (key->kind != KeyKind::identity) continue;
    const auto identity = fleet::read_record<fleet::Identity>(record.value);
    if (!identity) continue;
    const std::string name = fleet::certificate_name(key->names[0], key->names[1]);
    if (may_have_streams(identity.value())) found.not_yet.push_back(name);
    if (!identity.value().revoked.empty()) {
      ++found.revoked;
    } else {
      found.expiries[name] = expiry_of(identity.value());
    }
  }
  return found;
}

bool ends_soon(UnixSeconds until, UnixSeconds now) {
  return until < now + soon_days * fleet::day_seconds;
}

std::size_t ending(const Found& found, UnixSeconds now) {
  return static_cast<std::size_t>(
      std::count_if(found.expiries.begin(), found.expiries.end(),
                    [now](const auto& one) { return ends_soon(one.second, now); }));
}

// Returns a line for each controller or person whose certificate expires soon. Nodes renew theirs
// automatically.
std::vector<std::string> unrenewed_words(const Found& found, UnixSeconds now) {
  std::vector<std::string> lines;
  for (const auto& [name, until] : found.expiries) {
    if (name.starts_with(std::string(fleet::node_kind) + ":") || !ends_soon(until, now)) continue;
    lines.push_back("enrol " + name + " anew: its certificate is renewed by nobody, and ends: " +
                    days_left(until, now));
  }
  return lines;
}

std::string enrolled_words(const Found& found, UnixSeconds now) {
  const auto first = std::min_element(
      found.expiries.begin(), found.expiries.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  std::string words = "enrolled: " + std::to_string(found.expiries.size());
  if (first != found.expiries.end()) {
    words += ", the first whose certificate ends is " + first->first + ": " +
             days_left(first->second, now) + "; " + std::to_string(ending(found, now)) +
             " within " + std::to_string(soon_days) + " days";
  }
  return words + "; " + std::to_string(found.revoked) + " revoked";
}

// Returns a line about revoked people and nodes whose connections to the store may still be open.
std::string not_yet_words(const std::vector<std::string>& names) {
  return "not yet shut out: " + fleet::listed(names) +
         ": open connections to the store last until each member is restarted "
         "(fleetctl revoke --restart)";
}

// Returns a line about the cell's controllers, or an empty string if the cell has no controllers.
std::string controllers_words(const fleet::Reading& reading) {
  fleet::ControllersAtWork controllers;
  for (const fleet::KeyValue& record : reading.found)
    controllers.take(record);
  std::string words;
  for (const std::string& name : controllers.living())
    words += (words.empty() ? "" : ", ") + name + " at work";
  for (const std::string& name : controllers.silent())
    words += (words.empty() ? "" : ", ") + name + " silent";
  return words.empty() ? "" : "controllers: " + words;
}

// Returns the nodes that may be the next to move to the component's desired version.
fleet::ToBegin next_nodes(const fleet::Seen<fleet::Desired>& record, const std::string& component,
                          const std::vector<fleet::NodeView>& nodes) {
  const auto wish = wish_of(record);
  if (!wish) return {};
  fleet::NextNodes next(component, *wish);
  for (const fleet::NodeView& node : nodes)
    next.take(node.id, desired_node(node, component));
  return next.to_begin();
}

// Returns why nodes do not move to the desired version, or an empty string. The caller adds this
// text to the line about the desired version.
std::string words_about(const fleet::Desired& wish, const std::string& component,
                        const std::vector<fleet::NodeView>& nodes, const fleet::Held& held) {
  if (!wish.refused.empty()) return ", but moves no node: " + wish.refused;
  if (wish.pending) return ", but moves no node before " + wish.why + " has migrated";
  std::map<std::string, std::string> silent;
  for (const fleet::NodeView& node : nodes)
    if (const auto since = silent_at_gate_since(node, component, wish.version))
      silent[node.id] = *since;
  if (silent.empty()) return held.words.empty() ? "" : "; waits for " + held.words;
  return "; " + fleet::silent_at_gates(silent) + "; to go on without them: fleetctl desire " +
         component + " " + wish.version;
}

// The reasons that may hold back an upgrade that waits for a confirmation: a stop, closed windows,
// and budgets (limits for the number of nodes that may be down at the same time).
struct Holds {
  bool is_stopped;
  const fleet::WindowView& windows;
  const fleet::Budgets& budgets;
};

// Adds a line for each version to which people have pinned nodes. If upgrades wait at their gates
// for a confirmation, the line says what holds them back.
void add_pins(const std::vector<fleet::NodeView>& nodes, const Holds& holds,
              std::vector<std::string>& lines) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> all;
  fleet::PinnedNodes pinned;
  for (const fleet::NodeView& node : nodes) {
    pinned.take(node);
    for (const auto& [component, wish] : node.desired)
      if (wish.record.pinned) all[{component, wish.record.version}].push_back(node.id);
  }
  std::map<std::pair<std::string, std::string>, std::string> waits;
  for (fleet::HeldPins& pins : pinned.held(holds.is_stopped, holds.windows, &holds.budgets))
    waits[{pins.component, pins.version}] = "; waits for " + pins.held.words;
  for (const auto& [what, names] : all)
    lines.push_back("desired of " + fleet::listed(names) + ": " + what.first + " " + what.second +
                    waits[what]);
}

// Returns a text about nodes that keep the version of a later rollout instead of the desired one,
// or an empty string.
std::string kept_words(const fleet::Seen<fleet::Desired>& record, const std::string& component,
                       const std::vector<fleet::NodeView>& nodes) {
  const auto wish = wish_of(record);
  std::vector<std::string> names;
  for (const fleet::NodeView& node : nodes)
    if (wish && keeps_later_version(desired_node(node, component), *wish)) names.push_back(node.id);
  if (names.empty()) return "";
  const std::string& version = record.record.version;
  const bool goes_down = !who_runs_newer(nodes, component, version).empty();
  return "; " + fleet::listed(names) + (names.size() == 1 ? " keeps" : " keep") +
         " the version of a later rollout; to move " + (names.size() == 1 ? "it" : "them") +
         ", too: fleetctl desire " + component + " " + version + (goes_down ? " --downgrade" : "");
}

std::string waiting_words(const std::vector<std::string>& waiting) {
  std::string words = "wait for the next certificate:";
  for (const std::string& node : waiting) {
    words += " " + node;
  }
  return words;
}

std::string bytes_words(const std::map<std::string, std::size_t>& bytes) {
  const auto most = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  std::size_t sum = 0;
  for (const auto& [node, count] : bytes) {
    sum += count;
  }
  return "bytes of nodes: " + std::to_string(sum) + ", the most of " + most->first + ": " +
         std::to_string(most->second);
}

}  // namespace

std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                        fleet::UnixSeconds now) {
  JsonTree tree = json_object();
  tree.members["revision"] = json_number(reading.revision);
  JsonTree& store = tree.members["members"] = json_object();
  store.members["all"] = count(members.all);
  store.members["good"] = count(members.good);
  tree.members["nodes"] = node_counts(reading);
  tree.members["controllers"] = controllers(reading);
  tree.members["desired"] = wishes(reading);
  tree.members["stopped"] =
      fleet::json_truth(reading.find(fleet::key_of(KeyKind::stop)) != nullptr);
  const CertificateCount certificates = certificates_in(reading, now);
  JsonTree& care = tree.members["certificates"] = json_object();
  care.members["enrolled"] = count(certificates.enrolled);
  care.members["ending"] = count(certificates.ending);
  care.members["revoked"] = count(certificates.revoked);
  care.members["not_yet"] = count(certificates.not_yet);
  care.members["waiting"] = count(certificates.waiting);
  return write_tree(tree);
}

CertificateCount certificates_in(const fleet::Reading& reading, UnixSeconds now) {
  const Found found = look_at(reading);
  return {.enrolled = found.expiries.size(),
          .ending = ending(found, now),
          .revoked = found.revoked,
          .not_yet = found.not_yet.size(),
          .waiting = found.waiting.size()};
}

std::vector<std::string> wish_lines(const fleet::Reading& reading,
                                    const std::vector<fleet::NodeView>& nodes,
                                    const fleet::WindowView& windows) {
  const bool is_stopped = fleetctl::is_stopped(reading);
  fleet::Budgets budgets;
  budgets.take_all(reading);
  std::vector<std::string> lines;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::desired) continue;
    const std::string& component = key->names.front();
    const auto wish = fleet::read_record<fleet::Desired>(found.value);
    if (!wish) {
      lines.push_back("desired: " + component + " (" + wish.reason() + ")");
      continue;
    }
    const fleet::Seen<fleet::Desired> seen{wish.value(), found.modified};
    const auto what = next_nodes(seen, component, nodes);
    const fleet::Held held = held_back(what, is_stopped, windows, &budgets);
    lines.push_back("desired: " + component + " " + wish.value().version +
                    words_about(wish.value(), component, nodes, held) +
                    kept_words(seen, component, nodes));
  }
  add_pins(nodes, {is_stopped, windows, budgets}, lines);
  return lines;
}

std::vector<std::string> care_lines(const fleet::Reading& reading, const ShownCertificates& shown,
                                    UnixSeconds now) {
  const Found found = look_at(reading);
  std::vector<std::string> lines;
  if (shown.own && shown.authority) {
    lines.push_back("your certificate: " + days_left(shown.own->until, now) +
                    "; the authority's: " + days_left(shown.authority->until, now));
  }
  if (const std::string words = controllers_words(reading); !words.empty()) lines.push_back(words);
  if (!found.expiries.empty() || found.revoked != 0) lines.push_back(enrolled_words(found, now));
  for (std::string& line : unrenewed_words(found, now))
    lines.push_back(std::move(line));
  if (!found.not_yet.empty()) lines.push_back(not_yet_words(found.not_yet));
  if (!found.waiting.empty()) lines.push_back(waiting_words(found.waiting));
  if (!found.bytes.empty()) lines.push_back(bytes_words(found.bytes));
  return lines;
}

}  // namespace fleetctl
