// This file implements budgets: limits for how many nodes of a cell may be down at the same time.
// The setting `unavailable.LABEL` is a number K: of the nodes with the same value of LABEL, at most
// K may be in an upgrade at the same time. Here an upgrade begins with the command that stops the
// old version, and ends when the new version is committed or the node has fallen back. A run is a
// rollout, a plan or a desired version; a budget counts the nodes of all runs. This file does no
// input or output.
//
// Each value of the label has K places. A place is taken if the record place/LABEL/HASH/NUMBER
// exists: HASH is the hash of the value, and NUMBER is below K. The record names the value, the
// node, and the run that moves the node. The driver of the run (the controller that steers it)
// takes a place by creating the record, and gives it back by erasing the record. The store refuses
// to create a record that exists, so two drivers never take the same place. If a driver dies, the
// next driver of the run finds its places in the records.
//
//     a node has a place              the node counts against K
//     a node is degraded or silent    the node counts against K, since it does not work
//     a node was forgotten (removed   other nodes may take over the places of this node
//     from the cell)
//     a node does not have the label  the node needs no place
//     K was made smaller              places with a number of K or more stay taken until they are
//                                     given back
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/rollouts/batch_draft.h"

namespace fleet {

// The most labels that may have a budget in a cell.
inline constexpr std::size_t budget_labels_max = 4;
// The largest budget: the most nodes that may be down at the same time for one value of a label.
inline constexpr std::int64_t budget_places_max = 1'000;

// The answer to a run (a rollout, plan or desired version) that asks for budget places for its
// nodes.
struct PlacesAnswer {
  bool has_all = false;  // true if the run has already taken all places for these nodes
  // The places that the run can take now: the conditions that the places are still free, and the
  // records to create. The caller adds both to a transaction.
  std::vector<Compare> compares = {};
  std::vector<Put> puts = {};
  // Why the run has to wait for places, such as `site=north: 1 of 1 places are taken, by n7
  // (rollout/r2)`. Empty if the run need not wait. If some places are free, but too few, the text
  // ends with the number of places that are needed.
  std::string waits_for = {};
  // Why the run can never get the places: for one value of a label, it asks for more places than
  // the budget has. Empty if the run can get the places.
  std::string impossible = {};
};

class Budgets {
 public:
  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);
  // Adds a node that the caller has already parsed. The caller then need not pass the node's
  // records.
  void take_node(const NodeView& node);

  [[nodiscard]] bool is_set() const { return !limits_.empty(); }

  // Asks for budget places for all `nodes`, which the run `by` (a rollout, plan or desired version)
  // wants to take down at the same time. Returns how the run gets the places: see PlacesAnswer.
  // `room` is the most places that the caller's transaction can still take. If the run needs more,
  // the answer contains the first `room` places, sorted by label and by the hash of the label's
  // value.
  [[nodiscard]] PlacesAnswer ask(const std::string& by, const std::vector<std::string>& nodes,
                                 std::size_t room) const;
  // Returns the largest number N such that the budgets allow the first N of `nodes` to be down at
  // the same time. N is at least 1, unless `nodes` is empty.
  [[nodiscard]] std::size_t fitting(const std::vector<std::string>& nodes) const;
  // Returns the largest number N such that the run `by` need not wait for the places of the first N
  // of `nodes`. N is at least 1, even if the run has to wait for a place, unless `nodes` is empty.
  [[nodiscard]] std::size_t fitting_now(const std::string& by,
                                        const std::vector<std::string>& nodes) const;
  // Returns the budgets as values of --apart, such as `site:2`, and the nodes with their labels, so
  // that a draft of batches puts no more nodes into a batch than the budgets allow.
  [[nodiscard]] std::vector<std::string> aparts() const;
  [[nodiscard]] std::vector<PlacedNode> placed(const std::vector<std::string>& nodes) const;
  // Returns the settings of all budgets as one string, such as `unavailable.site=2`.
  [[nodiscard]] std::string limits_text() const;
  // Adds to the transaction that the run `by` (a rollout, plan or desired version) gives back the
  // places that it has taken for this node. Returns whether there are any. The store refuses the
  // transaction if another run has taken over one of these places meanwhile.
  bool give_back(Transaction& transaction, const std::string& by, const std::string& node) const;
  // Returns the nodes for which the run `by` (a rollout, plan or desired version) has taken budget
  // places.
  [[nodiscard]] std::set<std::string> nodes_of(const std::string& by) const;

 private:
  struct Node {
    // The labels that the node got when it joined. They override labels that the node itself
    // reports.
    std::map<std::string, std::string> given_labels = {};
    std::map<std::string, std::string> reported_labels = {};
    // The node's running processes of fleet-agent, by id. The value is true if the process reports
    // that the node is degraded.
    std::map<std::string, bool> instances = {};
    bool is_in_cell = false;
  };
  struct Taken {
    std::string node = {};
    std::string by = {};
    Revision modified = 0;
  };
  // A label and the hash of one of its values. Each such pair has budget places of its own.
  using Domain = std::pair<std::string, std::string>;
  struct Need {
    std::string value = {};
    std::set<std::string> nodes = {};
  };

  void take_text(const ParsedKey& key, const KeyValue* record);
  [[nodiscard]] std::string value_of(const std::string& node, const std::string& label) const;
  [[nodiscard]] bool exists(const std::string& node) const;
  [[nodiscard]] bool works(const std::string& node) const;
  // Returns the nodes that count against the budget for one value of a label, with the run that
  // moves each node. The run is an empty string if the node counts because it does not work. If the
  // record of a taken place cannot be read, the map contains `place NUMBER` instead of the node's
  // name.
  [[nodiscard]] std::map<std::string, std::string> counted_in(const Domain& domain,
                                                              const std::string& value) const;
  [[nodiscard]] std::vector<std::int64_t> free_numbers(const Domain& domain, std::int64_t most,
                                                       std::size_t most_wanted) const;
  [[nodiscard]] std::map<Domain, Need> needs_of(const std::vector<std::string>& nodes) const;

  // The budgets of the cell: for each label, how many nodes with the same value of the label may be
  // down at the same time.
  std::map<std::string, std::int64_t> limits_;
  std::map<std::string, Node> nodes_;
  std::map<Domain, std::map<std::int64_t, Taken>> taken_;
};

// Returns the hash of a label's value, as it is written in the keys of budget places:
// place/LABEL/HASH/NUMBER.
[[nodiscard]] std::string place_value(const std::string& value);

}  // namespace fleet
