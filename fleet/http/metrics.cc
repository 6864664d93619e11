#include "fleet/http/metrics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fleet/model/records/enum_text.h"

namespace fleet {
namespace {

// The metrics show the size of the records only for this many nodes: those with the largest
// records. This suffices to find a node that fills the store, and keeps the metrics short.
constexpr std::size_t largest_nodes = 10;

class Text {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  Text& about(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP fleet_").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE fleet_").append(name).append(" ").append(type).append("\n");
    return *this;
  }

  void line(const Labels& labels, const std::string& value) {
    text_.append("fleet_").append(name_);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      text_.append(i == 0 ? "{" : ",").append(labels[i].first).append("=\"");
      append_value(labels[i].second);
      text_ += '"';
    }
    if (!labels.empty()) text_ += '}';
    text_.append(" ").append(value).append("\n");
  }
  void line(const Labels& labels, std::int64_t value) { line(labels, std::to_string(value)); }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void append_value(const std::string& value) {
    for (const char c : value) {
      if (c == '\n') {
        text_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
  }

  std::string text_;
  std::string name_;
};

void add_nodes(Text& text, const CellState& cell) {
  const NodeCount count = cell.count();
  text.about("nodes", "gauge", "Nodes that have records.").line({}, count.all);
  text.about("nodes_reporting", "gauge", "Nodes whose agent lives.").line({}, count.reporting);
  text.about("nodes_degraded", "gauge", "Nodes that say that something is wrong.")
      .line({}, count.degraded);
  text.about("nodes_upgrading", "gauge", "Nodes with an upgrade under way.")
      .line({}, count.upgrading);
  text.about("node_versions", "gauge", "Nodes that run this version.");
  for (const auto& [component, counts] : cell.versions()) {
    for (const auto& [version, nodes] : counts) {
      text.line({{"component", component}, {"version", version}}, nodes);
    }
  }
  text.about("desired", "gauge", "1: this version is desired of the cell.");
  for (const auto& [component, wish] : cell.desired()) {
    text.line({{"component", component}, {"version", wish.version}}, 1);
  }
}

void add_bytes(Text& text, const CellState& cell) {
  std::vector<std::pair<std::int64_t, std::string>> nodes;
  std::int64_t sum = 0;
  for (const auto& [node, bytes] : cell.bytes_by_node()) {
    sum += bytes;
    nodes.emplace_back(bytes, node);
  }
  std::sort(nodes.rbegin(), nodes.rend());
  nodes.resize(std::min(nodes.size(), largest_nodes));
  text.about("nodes_bytes", "gauge", "What the store keeps of all nodes.").line({}, sum);
  text.about("node_bytes", "gauge", "What the store keeps of the largest nodes.");
  for (const auto& [bytes, node] : nodes) {
    text.line({{"node", node}}, bytes);
  }
  text.about("records_damaged", "gauge", "Records that cannot be read.").line({}, cell.damaged());
}

void add_rollouts(Text& text, const CellState& cell) {
  text.about("rollout", "gauge", "1: the rollout is in this state.");
  for (const auto& [id, one] : cell.rollouts()) {
    text.line({{"rollout", id},
               {"component", one.rollout.terms.component},
               {"version", one.rollout.terms.version},
               {"state", std::string(text_of(one.rollout.state))}},
              1);
  }
  text.about("rollout_failed", "gauge", "Nodes on which the rollout has failed.");
  for (const auto& [id, one] : cell.rollouts()) {
    text.line({{"rollout", id}}, one.rollout.failed);
  }
  text.about("rollout_gate", "gauge", "1: the gate of the rollout has said this last.");
  for (const auto& [id, one] : cell.rollouts()) {
    for (const GateStand& gate : one.rollout.gates) {
      text.line({{"rollout", id}, {"gate", gate.name}, {"says", std::string(text_of(gate.says))}},
                1);
    }
  }
  text.about("rollout_nodes", "gauge", "Nodes of the rollout in this stage.");
  for (const auto& [id, one] : cell.rollouts()) {
    for (const auto& [stage, nodes] : one.stages()) {
      text.line({{"rollout", id}, {"stage", stage}}, nodes);
    }
  }
  text.about("plan", "gauge", "1: the plan is in this state.");
  for (const auto& [name, plan] : cell.plans()) {
    text.line({{"plan", name}, {"state", std::string(text_of(plan.state))}}, 1);
  }
  text.about("driver", "gauge", "1: this controller drives it.");
  for (const auto& [id, controller] : cell.drivers()) {
    text.line({{"driven", id}, {"controller", controller}}, 1);
  }
  text.about("stopped", "gauge", "1: nothing may begin.").line({}, cell.stop() ? 1 : 0);
}

void add_store(Text& text, const Health& health) {
  text.about("store_follows", "gauge", "1: this controller knows all that was written.")
      .line({}, health.follows ? 1 : 0);
  text.about("store_revision", "counter", "The last change that was seen.")
      .line({}, health.revision);
  text.about("store_quorum", "gauge", "1: most members answer and have a leader.")
      .line({}, health.has_quorum() ? 1 : 0);
  text.about("store_no_space", "gauge", "1: a member takes no more writes for want of space.")
      .line({}, health.has_no_space() ? 1 : 0);
  text.about("store_member_up", "gauge", "1: the member answers.");
  for (const auto& [endpoint, member] : health.members) {
    text.line({{"member", endpoint}}, member.answers ? 1 : 0);
  }
  text.about("store_member_leads", "gauge", "1: the member is the leader.");
  for (const auto& [endpoint, member] : health.members) {
    if (member.answers) text.line({{"member", endpoint}}, member.status.leads ? 1 : 0);
  }
  text.about("store_database_bytes", "gauge", "The member's database, as a file.");
  for (const auto& [endpoint, member] : health.members) {
    if (member.answers) text.line({{"member", endpoint}}, member.status.database_bytes);
  }
  text.about("store_database_used_bytes", "gauge", "What of it is in use.");
  for (const auto& [endpoint, member] : health.members) {
    if (member.answers) text.line({{"member", endpoint}}, member.status.used_bytes);
  }
}

void add_signers(Text& text, const CellState& cell) {
  std::int64_t last = 0;
  for (const auto& [name, signer] : cell.signers()) {
    last = std::max(last, signer.snapshot);
  }
  text.about("signers", "gauge", "fleet-signers that are at work.")
      .line({}, static_cast<std::int64_t>(cell.signers().size()));
  text.about("snapshot_seconds", "gauge", "When a fleet-signer took the last, since 1970.");
  if (last != 0) text.line({}, last);
}

void add_certificates(Text& text, const CellState& cell, const Health& health) {
  text.about("certificate_expiry_seconds", "gauge", "When it ends, in seconds since 1970.");
  for (const CertificateHealth& one : health.certificates) {
    if (one.expires != 0) text.line({{"certificate", one.what}}, one.expires);
  }
  for (const auto& [name, signer] : cell.signers()) {
    if (signer.certificate_ends != 0)
      text.line({{"certificate", "signer " + name}}, signer.certificate_ends);
  }
}

void add_controller(Text& text, const Health& health) {
  text.about("http_responses_total", "counter", "What this controller has answered.");
  for (const auto& [status, count] : health.responses) {
    text.line({{"status", std::to_string(status)}}, count);
  }
  text.about("http_streams", "gauge", "Who follows the changes now.").line({}, health.streams);
  text.about("controller_cpu_seconds_total", "counter", "Processor time of this controller.")
      .line({}, std::to_string(health.cpu_seconds));
  text.about("controller_resident_bytes", "gauge", "Memory of this controller.")
      .line({}, health.resident_bytes);
}

}  // namespace

std::string metrics_text(const CellState& cell, const Health& health) {
  Text text;
  add_nodes(text, cell);
  add_bytes(text, cell);
  add_rollouts(text, cell);
  add_store(text, health);
  add_signers(text, cell);
  add_certificates(text, cell, health);
  add_controller(text, health);
  return text.text();
}

}  // namespace fleet
