// Groups the failures of a rollout: nodes that failed alike are one group, however many they are,
// and each group names what sets its nodes apart from those that did not fail. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

// A node of a rollout: its record, and its facts and labels as `arch=x86_64`.
struct NodeOfRollout {
  RolloutNode record = {};
  std::map<std::string, std::string> marks = {};
};
using NodesOfRollout = std::map<std::string, NodeOfRollout>;

// At most so many suspects are named, the strongest first.
inline constexpr std::size_t suspects_max = 3;

// A value of a fact or a label that nearly all nodes of a group have, and few others.
struct Suspect {
  std::string mark = {};           // `arch=x86_64`
  std::int64_t failed = 0;         // nodes of the group that have it
  std::int64_t others = 0;         // nodes that have begun, and have not failed so, and have it
  std::int64_t others_in_all = 0;  // nodes that have begun, and have not failed so

  bool operator==(const Suspect&) const = default;
};

struct FailureGroup {
  NodeStage stage = NodeStage::failed;
  std::string error = {};               // of the first of its nodes
  std::vector<Capsule> evidence = {};   // of the first of its nodes that has any: at most one
  std::vector<std::string> nodes = {};  // sorted
  std::vector<Suspect> suspects = {};
  // Every node that has begun is in this group, so the version itself is the suspect.
  bool is_everybody = false;

  bool operator==(const FailureGroup&) const = default;
};

// Returns whether the record tells of a failure, or of a node that could not do as it was told.
[[nodiscard]] bool has_failed(const RolloutNode& node);

// Returns the groups, the largest first. Failures are alike if they are of one stage, have the same
// exit status and signal, and the same words apart from numbers, the node's name and ids.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const NodesOfRollout& nodes);

// Returns the words with each number as `#` and the node's name as `NODE`. A number behind
// `status`, `signal` or `http:` tells failures apart, and stays.
[[nodiscard]] std::string likeness(std::string_view words, std::string_view node);

}  // namespace fleet
