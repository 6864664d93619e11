// This file parses a target: the expression with which a person selects nodes by their names and
// facts.
//
//     web*                     nodes whose name matches the glob: * ? [abc] [!a-z]
//     E@web[0-9]+\.(east|west) nodes whose whole name matches the regular expression (PCRE)
//     L@web1,web2              these nodes
//     G@os:linux               KEY:GLOB: nodes whose fact KEY matches the glob, or whose label KEY
//                              matches, if the node has no such fact
//     not A, A and B, A or B   `not` binds most, `or` least; parentheses group
//
// A term ends at white space or at a parenthesis. But a regular expression may contain pairs of
// parentheses, so it ends at white space, or at a `)` without a `(` before it in the expression.
// All other parentheses and white space in a term must be quoted: E@"a b".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/node_records.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The limits for an expression: about a screenful. A person who needs a longer expression can give
// the nodes a label instead.
inline constexpr std::size_t target_bytes_max = 4096;
inline constexpr std::size_t target_terms_max = 256;

struct TargetTerm {
  enum class Kind { glob, regex, list, fact, negation, conjunction, disjunction };

  Kind kind = Kind::glob;
  std::string key = {};                  // for a fact, the name of the fact
  std::string pattern = {};              // for a glob, a regular expression or a fact
  std::vector<std::string> listed = {};  // only for a list: the names of the listed nodes, sorted

  bool operator==(const TargetTerm&) const = default;
};

// A parsed target: its terms in postfix order, in which each operation follows the terms that it
// combines. parse_target() never returns a Target without terms.
struct Target {
  std::vector<TargetTerm> terms = {};

  bool operator==(const Target&) const = default;
};

// Parses a target. If the text cannot be parsed, the Refusal says at which byte of the text the
// fault is, and what is expected there. The bytes are counted from 1.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// A node from which a target may select.
struct TargetNode {
  std::string id = {};
  NodeInfo info = {};
  bool reports = false;  // true if a fleet-agent of the node is alive

  bool operator==(const TargetNode&) const = default;
};

struct Selection {
  std::vector<std::string> nodes = {};  // the selected nodes that report, sorted
  // Selected nodes that do not report or are unknown, sorted.
  std::vector<std::string> not_covered = {};

  bool operator==(const Selection&) const = default;
};

// Returns the nodes in `nodes` that match the target. A list in the target, such as `L@web1,web2`,
// may also name a node that is not in `nodes`: this node is selected if its name alone matches the
// target. Returns a Refusal only if a regular expression takes too many steps.
[[nodiscard]] Result<Selection> select_nodes(const Target& target,
                                             const std::vector<TargetNode>& nodes);

}  // namespace fleet
