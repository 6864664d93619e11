#include "fleet/fleetctl/cell_view.h"

#include "base/escape.h"
#include "base/shown.h"
#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace fleetctl {
namespace {

std::string state_of(const NodeView& node) {
  if (!node.reports()) return "silent";
  return node.degraded().empty() ? "reports" : "degraded";
}

// Returns a text about the node's last upgrade of the component. Outside of rollouts, the record's
// phase stays `cutover-ready` even when the new version runs on trial. So the upgrade is on trial
// if the node already runs the new version.
std::string upgrade_words(const NodeView& node, const std::string& component,
                          const fleet::Upgrade& upgrade) {
  const bool is_ready = upgrade.phase == fleet::UpgradePhase::cutover_ready;
  const auto running = node.versions.running.find(component);
  const bool is_on_trial = is_ready && running != node.versions.running.end() &&
                           fleet::is_same_version(running->second, upgrade.to);
  std::string words = is_on_trial ? "on trial" : words_of(upgrade.phase);
  if (is_ready) words += ":";
  if (!upgrade.to.empty()) words += " " + upgrade.to;
  if (!upgrade.error.empty()) words += ": " + upgrade.error;
  return words;
}

std::string versions_words(const NodeView& node) {
  std::string words;
  for (const auto& [component, version] : node.versions.running) {
    words += (words.empty() ? "" : ", ") + component + " " + version;
  }
  return words.empty() ? "unknown" : words;
}

// Returns the versions that a person has chosen for this node alone, as a text such as `pinned to
// shop 1.0.0`, or an empty string.
std::string pins_of(const NodeView& node) {
  std::string words;
  for (const auto& [component, wish] : node.desired) {
    if (!wish.record.pinned) continue;
    words += (words.empty() ? "pinned to " : ", ") + component + " " + wish.record.version;
  }
  return words;
}

// Returns a text about the node's first upgrade that is under way or has failed, in the order of
// components, and about its pinned versions.
std::string news_of(const NodeView& node) {
  const std::string pins = pins_of(node);
  for (const auto& [component, upgrade] : node.upgrades) {
    if (upgrade.phase != fleet::UpgradePhase::done)
      return component + " " + upgrade_words(node, component, upgrade) +
             (pins.empty() ? "" : "; " + pins);
  }
  return pins;
}

std::string quoted(const std::string& text) {
  std::string out;
  agent_protocol::append_quoted(out, text);
  return out;
}

}  // namespace

std::vector<std::string> node_table(const std::vector<NodeView>& nodes) {
  std::vector<upgraderctl::Row> rows{{"NODE", "STATE", "VERSIONS", "NEWS"}};
  for (const NodeView& node : nodes) {
    const std::string why = node.degraded();
    rows.push_back(
        {node.id, state_of(node), versions_words(node), why.empty() ? news_of(node) : why});
  }
  return table(rows);
}

namespace {

// Returns the counts of a node's failures as a text such as `2 ends, 0 failed checks, 1 fall-back
// since r1.apply.1`. An end is an exit without an order, and `r1.apply.1` is the upgrade since
// which the failures are counted.
std::string health_words(const fleet::NodeHealth& health) {
  return fleet::counted(health.ends, "end") + ", " +
         fleet::counted(health.unhealthy, "failed check") + ", " +
         fleet::counted(health.fallbacks, "fall-back") + " since " + health.run;
}

// Returns a measure of a node as a text such as `errors counter 12, changed by 3, worse up`: the
// name, the type, the value, and that a larger value is worse.
std::string measure_words(const fleet::Measure& measure) {
  std::string words = measure.name + " " + std::string(text_of(measure.type)) + " " + measure.value;
  if (!measure.change.empty()) words += ", changed by " + measure.change;
  const bool is_judged = measure.worse != fleet::MeasureWorse::unknown;
  return words + (is_judged ? ", worse " + std::string(text_of(measure.worse)) : ", not judged");
}

// Returns a text such as `shop 1.0.0, by anna: too slow` for a version that a person has chosen for
// one node.
std::string pin_words(const std::string& component, const fleet::Desired& wish) {
  return component + " " + wish.version + (wish.who.empty() ? "" : ", by " + wish.who) +
         (wish.why.empty() ? "" : ": " + wish.why);
}

}  // namespace

std::vector<std::string> node_page(const NodeView& node, const Waits& waits) {
  std::vector<std::string> lines{node.id + ": " + state_of(node)};
  if (!node.degraded().empty()) lines.back() += ", " + node.degraded();
  std::vector<upgraderctl::Row> rows;
  for (const auto& [component, version] : node.versions.running) {
    rows.push_back({"  runs", component + " " + version});
  }
  for (const auto& [component, wish] : node.desired) {
    if (wish.record.pinned) rows.push_back({"  pinned", pin_words(component, wish.record)});
  }
  for (const auto& [id, instance] : node.instances) {
    const std::string role = id == node.active.instance ? "acts" : instance.phase;
    rows.push_back({"  instance", id + " " +
                                      (instance.version.empty() ? "unknown" : instance.version) +
                                      ", " + role + ", since " + instance.since});
  }
  for (const auto& [component, upgrade] : node.upgrades) {
    rows.push_back({"  upgrade", component + " " + upgrade_words(node, component, upgrade) + " (" +
                                     upgrade.attempt + (upgrade.changed.empty() ? "" : ", ") +
                                     upgrade.changed + ")"});
  }
  for (const auto& [component, by] : node.claims) {
    rows.push_back({"  claimed", component + " by " + (by.empty() ? "somebody" : by) +
                                     ": no desired version moves it meanwhile"});
  }
  for (const auto& [component, what] : waits) {
    rows.push_back({"  waits", component + " for " + what});
  }
  for (const auto& [component, health] : node.healths) {
    rows.push_back({"  health", component + " " + health_words(health)});
    for (const fleet::Measure& measure : health.measures)
      rows.push_back({"  measure", component + " " + measure_words(measure)});
    if (!health.trouble.empty()) rows.push_back({"  measure", component + ": " + health.trouble});
  }
  for (const auto& [name, value] : node.info.facts) {
    rows.push_back({"  fact", name + ":" + value});
  }
  for (const auto& [name, value] : node.info.labels) {
    rows.push_back({"  label", name + ":" + value});
  }
  for (const auto& [key, why] : node.damage) {
    rows.push_back({"  damaged", key + " " + why});
  }
  for (const std::string& line : table(rows)) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> version_table(const std::vector<NodeView>& nodes) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const NodeView& node : nodes) {
    for (const auto& [component, version] : node.versions.running) {
      ++counts[{component, version}];
    }
  }
  std::vector<upgraderctl::Row> rows{{"COMPONENT", "VERSION", "NODES"}};
  for (const auto& [what, count] : counts) {
    rows.push_back({what.first, what.second, std::to_string(count)});
  }
  return table(rows);
}

std::string as_json(const fleet::Reading& reading) {
  std::string json = "{\"revision\":" + std::to_string(reading.revision) + ",\"records\":{";
  bool is_first = true;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key) continue;
    json += is_first ? "\n" : ",\n";
    is_first = false;
    // A record that is not a JSON object, or has a member twice, could break the JSON around it. So
    // print it as a JSON string.
    const bool is_object = static_cast<bool>(fleet::parse_foreign_tree(found.value));
    json += quoted(found.key.substr(fleet::key_root.size())) + ":" +
            (is_object ? found.value : quoted(found.value));
  }
  return json + "}}";
}

std::vector<std::string> table(std::vector<upgraderctl::Row> rows) {
  for (upgraderctl::Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      row[i] = upgraderctl::cut(upgraderctl::shown(row[i]),
                                last ? last_cell_columns_max : cell_columns_max);
    }
  }
  return upgraderctl::in_columns(rows);
}

}  // namespace fleetctl
