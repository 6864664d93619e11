// This file implements budgets: limits for how many nodes of a cell may be down at the same time,
// over all rollouts, plans and desired versions together. The setting `unavailable.LABEL` is a
// number K: of the nodes with the same value of LABEL, at most K may be in an upgrade at a time,
// from the command that stops the old version until the new version is committed or the node has
// fallen back. This file does no input or output.
//
// Each value of the label has K places. A place is a record place/LABEL/HASH/NUMBER with a number
// below K: HASH is the hash of the value, and the record contains the value itself. A driver takes
// a place with a transaction that creates the record; the store refuses this transaction if the
// record exists already. The driver gives the place back by erasing the record. So two drivers
// never have the same place, even if a process dies. Each record names the node, and the rollout,
// plan or desired version that moves the node. So a driver that takes over from a dead driver finds
// the places that the dead driver has taken.
//
//     a node has a place              the node counts against K
//     a node is degraded or silent    the node counts against K, since it does not work
//     a node was forgotten            any driver may take over the places that the node had
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

#include "fleet/model/keys.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The most labels that may have a budget.
inline constexpr std::size_t budget_labels_max = 4;
// The largest budget: the most nodes that may be down at the same time for one value of a label.
inline constexpr std::int64_t budget_places_max = 1'000;

// The answer to a rollout, a plan or a desired version that asks for budget places for some nodes.
// In this file, each rollout, plan or desired version is called a run.
struct PlacesAnswer {
  bool has_all = false;                // true if every node already has its places
  std::vector<Compare> compares = {};  // the conditions that the places in `puts` are still free
  std::vector<Put> puts = {};
  // Why the run (the rollout, plan or desired version) has to wait for places, such as `site=north:
  // 1 of 1 places are taken, by n7 (rollout/r2)`. Empty if the run need not wait. If some places
  // are free, but too few, the text ends with the number of places that are needed.
  std::string waits_for = {};
  // Why the run (the rollout, plan or desired version) can never get the places: for one value of a
  // label, it asks for more places than the budget has. Empty if the run can get the places.
  std::string impossible = {};
};

class Budgets {
 public:
  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  [[nodiscard]] bool is_set() const { return !limits_.empty(); }

  // Returns how the run `by` (a rollout, plan or desired version) gets the budget places for all
  // `nodes`, which are to be down at the same time. There are four answers: the run has all places
  // already, it takes places now, it has to wait, or it can never get the places. `room` is how
  // many places fit into the transaction. If not all fit, only the first ones are taken now, in the
  // order of their labels and of the hashes of the labels' values.
  [[nodiscard]] PlacesAnswer ask(const std::string& by, const std::vector<std::string>& nodes,
                                 std::size_t room) const;
  // Returns how many nodes, counted from the first of `nodes`, the budgets allow to be down at the
  // same time. The result is at least 1, unless `nodes` is empty.
  [[nodiscard]] std::size_t fitting(const std::vector<std::string>& nodes) const;
  // Returns the settings of all budgets as one string, in the form in which people write them:
  // `unavailable.site=2`.
  [[nodiscard]] std::string limits_text() const;
  // Returns the keys of the budget places that `by` (a rollout, plan or desired version) has taken
  // so that this node may be down.
  [[nodiscard]] std::vector<std::string> held(const std::string& by, const std::string& node) const;
  // Returns the nodes for which `by` (a rollout, plan or desired version) has taken budget places,
  // so that these nodes may be down.
  [[nodiscard]] std::set<std::string> nodes_of(const std::string& by) const;

 private:
  struct Node {
    // Labels from the node's identity. A label here overrides the same label in `reported`.
    std::map<std::string, std::string> given = {};
    std::map<std::string, std::string> reported = {};
    // The living instances of fleet-agent, by id. The value is true if the instance reports that
    // the node is degraded.
    std::map<std::string, bool> instances = {};
    // True if the node has a record `active`. A node without this record is not in the cell.
    bool exists = false;
  };
  struct Taken {
    std::string node = {};
    std::string by = {};
    Revision modified = 0;
  };
  // A label and the hash of one of its values. A budget limits how many nodes with the same value
  // of a label may be down, so each such pair has its own budget places.
  using Domain = std::pair<std::string, std::string>;
  struct Need {
    std::string value = {};
    std::set<std::string> nodes = {};
  };

  void take_text(const ParsedKey& key, const KeyValue* record);
  [[nodiscard]] std::string value_of(const std::string& node, const std::string& label) const;
  [[nodiscard]] bool exists(const std::string& node) const;
  [[nodiscard]] bool works(const std::string& node) const;
  // Returns the nodes that count against the budget of a domain, which is a label with one of its
  // values. For each node, the map has the rollout, plan or desired version that moves the node, or
  // an empty string if the node counts because it does not work. A place whose record cannot be
  // read counts, too, as `place NUMBER` in place of a node.
  [[nodiscard]] std::map<std::string, std::string> counted_in(const Domain& domain,
                                                              const std::string& value) const;
  [[nodiscard]] std::vector<std::int64_t> free_numbers(const Domain& domain, std::int64_t most,
                                                       std::size_t most_wanted) const;
  [[nodiscard]] std::map<Domain, Need> needs_of(const std::vector<std::string>& nodes) const;

  // The budgets of the cell: for each label, how many nodes with the same value of that label may
  // be down at the same time.
  std::map<std::string, std::int64_t> limits_;
  std::map<std::string, Node> nodes_;
  std::map<Domain, std::map<std::int64_t, Taken>> taken_;
};

// Returns the hash of a label's value. The key of a budget place, place/LABEL/HASH/NUMBER, contains
// this hash in place of the value.
[[nodiscard]] std::string place_value(const std::string& value);

}  // namespace fleet
