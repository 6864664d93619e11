// The budget over everything that stops something in a cell: at most K nodes of one value of a
// label may be between a command that stops something and their commit or fall-back, over all
// rollouts and desired versions. The setting `unavailable.LABEL` is K. Pure.
//
// There are K places for each value, which are records place/LABEL/VALUE/NUMBER with numbers below
// K; VALUE is a hash, and the record has the text. A driver takes a place by creating its record,
// in a transaction that compares that the record is absent, and gives it back by erasing it. So no
// two drivers have one place, whatever dies, and a driver that goes on finds the places that it
// has: each names the node, and the run that moves the node.
//
//     a node holds a place            it counts
//     a node is degraded or silent    it counts, since it does not work
//     a node was forgotten            its place is free: whoever needs it takes it over
//     a node has no such label        it is a value of its own, and needs no place
//     K was made smaller              places beyond K stay taken until they are given back
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

// The most labels with a budget, and the most places of one value.
inline constexpr std::size_t budget_labels_max = 4;
inline constexpr std::int64_t budget_places_max = 1'000;

// The answer to a run that asks for places.
struct PlacesAnswer {
  bool has_all = false;                // every node of the batch has its places
  std::vector<Compare> compares = {};  // of the places that it takes now
  std::vector<Put> puts = {};
  // why not all are to be had now: `site=north: 1 of 1 taken, by n7 (rollout/r2)`
  std::string waits_for = {};
  // why they are never to be had: more nodes of the batch need one value than there are places
  std::string impossible = {};
};

class Budgets {
 public:
  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  [[nodiscard]] bool is_set() const { return !limits_.empty(); }

  // Returns what the run `by` does so that all these nodes have their places: it has them, or takes
  // at most `room` of them now, in the order of labels and values, or waits. The nodes are those
  // that are to stop something together.
  [[nodiscard]] PlacesAnswer ask(const std::string& by, const std::vector<std::string>& nodes,
                                 std::size_t room) const;
  // Returns the keys of the places that the run has for this node.
  [[nodiscard]] std::vector<std::string> held(const std::string& by, const std::string& node) const;
  // Returns the nodes for which the run has places.
  [[nodiscard]] std::set<std::string> nodes_of(const std::string& by) const;

 private:
  struct Node {
    std::map<std::string, std::string> given = {};  // the labels of its identity, which win
    std::map<std::string, std::string> reported = {};
    std::map<std::string, bool> instances = {};  // those that live, and whether each is degraded
    bool exists = false;                         // it has acted for the cell, and is not forgotten
  };
  struct Taken {
    std::string node = {};
    std::string by = {};
    Revision modified = 0;
  };
  // A label and a hash of its value.
  using Domain = std::pair<std::string, std::string>;
  struct Need {
    std::string value = {};
    std::set<std::string> nodes = {};
  };

  void take_text(const ParsedKey& key, const KeyValue* record);
  [[nodiscard]] std::string value_of(const std::string& node, const std::string& label) const;
  [[nodiscard]] bool exists(const std::string& node) const;
  [[nodiscard]] bool works(const std::string& node) const;
  // Returns the nodes that count in a domain, with the run that moves each; empty for a node that
  // does not work.
  [[nodiscard]] std::map<std::string, std::string> counted_in(const Domain& domain,
                                                              const std::string& value) const;
  [[nodiscard]] std::map<Domain, Need> needs_of(const std::vector<std::string>& nodes) const;

  std::map<std::string, std::int64_t> limits_;  // by label
  std::map<std::string, Node> nodes_;
  std::map<Domain, std::map<std::int64_t, Taken>> taken_;
};

// Returns the hash of a value in the keys of its places.
[[nodiscard]] std::string place_value(const std::string& value);

}  // namespace fleet
