// The present state of the cell, for the page and the metrics. Each change of a record updates it.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/join_records.h"
#include "fleet/model/node_view.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/record_tree.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

struct NodeCount {
  std::int64_t all = 0;
  std::int64_t reporting = 0;
  std::int64_t degraded = 0;
  std::int64_t upgrading = 0;
};

class CellState {
 public:
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  struct OneRollout {
    Rollout rollout = {};
    std::map<std::string, NodeStage> nodes = {};       // the nodes that have got an order
    std::map<std::string, std::int64_t> batches = {};  // the number of nodes in each batch

    [[nodiscard]] std::map<std::string, std::int64_t> stages() const;
  };

  [[nodiscard]] const std::map<std::string, NodeView>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, OneRollout>& rollouts() const { return rollouts_; }
  [[nodiscard]] const std::map<std::string, Plan>& plans() const { return plans_; }
  [[nodiscard]] const std::map<std::string, Desired>& desired() const { return desired_; }
  [[nodiscard]] const std::map<std::string, std::string>& drivers() const { return drivers_; }
  // Returns the fleet-signers that are at work, by their names.
  [[nodiscard]] const std::map<std::string, SignerAtWork>& signers() const { return signers_; }
  [[nodiscard]] const std::optional<Stop>& stop() const { return stop_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

  [[nodiscard]] NodeCount count() const;
  // Returns the number of nodes for each component and version.
  [[nodiscard]] std::map<std::string, std::map<std::string, std::int64_t>> versions() const;
  // Returns how many bytes of records the store keeps for each node.
  [[nodiscard]] std::map<std::string, std::int64_t> bytes_by_node() const;
  [[nodiscard]] std::int64_t damaged() const;

 private:
  template <class Record>
  void keep(std::map<std::string, Record>& records, const ParsedKey& key, const KeyValue& found);
  void take_rollout(const ParsedKey& key, const KeyValue& record);
  void take_cell(const ParsedKey& key, const KeyValue& record);
  void forget(const ParsedKey& key);

  std::map<std::string, NodeView> nodes_;
  // The bytes of each record in the store, by node and key.
  std::map<std::string, std::map<std::string, std::int64_t>> bytes_;
  std::map<std::string, OneRollout> rollouts_;
  std::map<std::string, Plan> plans_;
  std::map<std::string, Desired> desired_;
  // For each rollout, plan and desired version, the controller that drives it.
  std::map<std::string, std::string> drivers_;
  std::map<std::string, SignerAtWork> signers_;
  std::map<std::string, bool> unread_;  // the keys of records that cannot be read
  std::optional<Stop> stop_;
  Settings settings_;
};

// Returns a summary of the cell as JSON.
[[nodiscard]] JsonTree summary_of(const CellState& cell);

}  // namespace fleet
