// Implements the commands of fleetctl that only read the store.
#include <algorithm>
#include <ctime>

#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/fleetctl/status_view.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/history/events.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/reasons/stop_words.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

std::string member_words(const fleet::MemberStatus& member) {
  std::string words = member.leads ? "leads" : member.has_leader ? "follows" : "has no leader";
  words += ", etcd " + member.version + ", " + std::to_string(member.used_bytes / 1'024) + " of " +
           std::to_string(member.database_bytes / 1'024) + " KiB in use";
  for (const std::string& error : member.errors) {
    words += "; " + error;
  }
  return words;
}

// Adds a row to the table for each member of the store. Returns the number of members that answer
// and have a leader.
std::size_t show_members(const Options& options, Asker& asker,
                         std::vector<upgraderctl::Row>& rows) {
  std::size_t good = 0;
  for (const std::string& endpoint : options.store.endpoints) {
    const auto reply = asker.status(endpoint);
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) {
      rows.push_back({"  " + endpoint, trouble->reason});
      continue;
    }
    const auto& member = std::get<fleet::MemberStatus>(reply);
    rows.push_back({"  " + endpoint, member_words(member)});
    if (member.has_leader) ++good;
  }
  return good;
}

}  // namespace

int show_status(const Options& options, Asker& asker) {
  std::vector<upgraderctl::Row> rows;
  const std::size_t good = show_members(options, asker, rows);
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (options.json) {
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
    return say_json(status_json(std::get<fleet::Reading>(reply),
                                {options.store.endpoints.size(), good}, std::time(nullptr)));
  }
  const std::size_t all = options.store.endpoints.size();
  say("store: " + std::to_string(good) + " of " + std::to_string(all) +
      " members answer and have a leader" +
      (2 * good > all ? "" : ": without a majority nothing can be written"));
  say_all(table(rows));
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  const auto nodes = nodes_in(reading);
  const auto reporting = std::count_if(nodes.begin(), nodes.end(),
                                       [](const NodeView& node) { return node.reports(); });
  const auto degraded = std::count_if(
      nodes.begin(), nodes.end(), [](const NodeView& node) { return !node.degraded().empty(); });
  say("nodes: " + std::to_string(nodes.size()) + ", " + std::to_string(reporting) + " report, " +
      std::to_string(degraded) + " degraded");
  fleet::WindowView windows(fleet::zone_of);
  windows.set_wall(std::time(nullptr), 0);
  windows.take_all(reading);
  say_all(wish_lines(reading, nodes, windows));
  say_all(work_lines(reading, windows));
  if (const fleet::KeyValue* stop = reading.find(fleet::key_of(KeyKind::stop))) {
    say("stop: nothing begins" + fleet::stop_words(stop->value));
  }
  const fleet::Certificates& files = options.store.certificates;
  return say_all(care_lines(reading,
                            {fleet::validity_of(fleet::content_of_file(files.own)),
                             fleet::validity_of(fleet::content_of_file(files.authority))},
                            std::time(nullptr)));
}

int show_nodes(const Options& options, Asker& asker) {
  const auto reply =
      read_keys(asker, {fleet::prefix_of(KeyKind::node_info), fleet::node_identities()});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  auto nodes = nodes_in(std::get<fleet::Reading>(reply));
  fleet::Reading shown = std::get<fleet::Reading>(reply);
  std::erase_if(shown.found, [](const fleet::KeyValue& found) {
    return found.key.starts_with(fleet::node_identities());
  });
  if (!options.target.empty()) {
    const auto target = fleet::parse_target(options.target);
    if (!target) return fail("--target: " + target.reason(), exit_usage);
    const auto selection = select_nodes(target.value(), target_nodes(nodes));
    if (!selection) return fail("--target: " + selection.reason(), exit_usage);
    std::vector<std::string> meant = selection.value().nodes;
    meant.insert(meant.end(), selection.value().not_covered.begin(),
                 selection.value().not_covered.end());
    const auto is_meant = [&meant](const std::string& id) {
      return std::find(meant.begin(), meant.end(), id) != meant.end();
    };
    std::erase_if(nodes, [&](const NodeView& node) { return !is_meant(node.id); });
    std::erase_if(shown.found, [&](const fleet::KeyValue& found) {
      const auto key = fleet::parse_key(found.key);
      return !key || !is_meant(key->names.front());
    });
  }
  if (options.json) return say_json(as_json(shown));
  return say_all(node_table(nodes));
}

namespace {

// Finds out why the node's upgrades are not confirmed yet. Reads all records of the cell, but only
// if an upgrade is waiting for a confirmation.
std::optional<fleet::Trouble> find_waits(Asker& asker, const NodeView& node, Waits& waits) {
  const bool is_at_gate = std::ranges::any_of(node.upgrades, [](const auto& one) {
    return one.second.phase == fleet::UpgradePhase::cutover_ready;
  });
  if (!is_at_gate) return std::nullopt;
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return *trouble;
  const auto& cell = std::get<fleet::Reading>(reply);
  fleet::WindowView windows(fleet::zone_of);
  windows.set_wall(std::time(nullptr), 0);
  windows.take_all(cell);
  waits = waits_at_gate(node, cell, windows);
  return std::nullopt;
}

}  // namespace

int show_node(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::node_prefix(options.node), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  const auto nodes = nodes_in(reading);
  if (nodes.empty()) return no_such_node(options);
  if (options.json) return say_json(as_json(reading));
  Waits waits;
  if (const auto trouble = find_waits(asker, nodes.front(), waits)) return unreachable(*trouble);
  return say_all(node_page(nodes.front(), waits));
}

int show_versions(const Options& options, Asker& asker) {
  const auto reply =
      read_keys(asker, {fleet::prefix_of(KeyKind::node_info), fleet::node_identities()});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  if (!options.json) return say_all(version_table(nodes_in(reading)));
  std::erase_if(reading.found, [](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    return !key || key->kind != KeyKind::node_versions;
  });
  return say_json(as_json(reading));
}

int list_releases(const Options& options, Asker& asker) {
  std::string below = fleet::prefix_of(KeyKind::release);
  if (!options.component.empty()) below += options.component + "/";
  const auto reply = asker.read({below, true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"COMPONENT", "VERSION", "CHANNEL", "ARCH", "PUBLISHED"}};
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key) continue;
    const auto release = fleet::read_record<fleet::Release>(found.value);
    std::string archs = release ? "" : release.reason();
    const auto value = release ? release.value() : fleet::Release();
    for (const auto& manifest : value.manifests) {
      archs += (archs.empty() ? "" : ",") + manifest.arch;
    }
    rows.push_back({key->names[0], key->names[1], value.channel, archs, value.published});
  }
  return say_all(table(rows));
}

// ---- the events and the history of the cell

namespace {

void keep_last(std::size_t limit, fleet::Reading& reading) {
  const std::size_t count = std::min(limit, reading.found.size());
  reading.found.erase(reading.found.begin(),
                      reading.found.end() - static_cast<std::ptrdiff_t>(count));
}

}  // namespace

int show_events(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::event), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  std::erase_if(reading.found, [&options](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::event) return true;
    const auto event = fleet::read_record<fleet::FleetEvent>(found.value);
    if (!options.who.empty() && (!event || !fleet::is_by(event.value(), options.who))) return true;
    return !options.subject.empty() &&
           (!event || !fleet::is_about(event.value().subject, options.subject));
  });
  keep_last(options.limit, reading);
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"NUMBER", "TIME", "SUBJECT", "WHAT", "WHO", "TRACE"}};
  for (const fleet::KeyValue& found : reading.found) {
    const std::string number = std::to_string(fleet::parse_key(found.key)->number());
    const auto event = fleet::read_record<fleet::FleetEvent>(found.value);
    if (!event) {
      rows.push_back({number, "", "", event.reason(), "", ""});
      continue;
    }
    const fleet::FleetEvent& one = event.value();
    // If no certificate has proved the person's name, show it as a claim: `says NAME`.
    const std::string who = one.who.empty() || one.proved ? one.who : "says " + one.who;
    rows.push_back({number, one.time, one.subject, one.text, who, one.trace});
  }
  return say_all(table(rows));
}

int show_history(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::history), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  keep_last(options.limit, reading);
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"ENDED", "SUBJECT", "RAN", "STATE", "WHO", "REASON"}};
  for (const fleet::KeyValue& found : reading.found) {
    const auto line = fleet::read_record<fleet::PastRun>(found.value);
    const fleet::PastRun one = line ? line.value() : fleet::PastRun{.reason = line.reason()};
    rows.push_back({one.ended, one.subject, one.what, one.state, one.who, one.reason});
  }
  return say_all(table(rows));
}

}  // namespace fleetctl
