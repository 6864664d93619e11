// This file parses a target: the expression with which a person selects nodes by their names and
// facts.
//
//     web*                     nodes whose id matches the glob: * ? [abc] [!a-z]
//     E@web[0-9]+\.(east|west) a regular expression (PCRE) for the whole id: E@web1 is not web10
//     L@web1,web2              these nodes
//     G@os:linux               a fact of the node, or a label if it has no such fact: KEY:GLOB
//     not A, A and B, A or B   `not` binds most, `or` least; parentheses group
//
// A term ends at white space or at a parenthesis. But a regular expression may contain parentheses:
// it ends at white space, or at a `)` whose `(` is not a part of it. White space and any other
// parentheses in a term must be quoted: E@"a b".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/node_records.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The limit for an expression: about a screenful. A person who needs a longer expression can give
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

// The terms in postfix order: each operation follows the terms that it combines. Never empty after
// parsing.
struct Target {
  std::vector<TargetTerm> terms = {};

  bool operator==(const Target&) const = default;
};

// Parses a target. If the text cannot be parsed, the Refusal says at which byte, counted from 1,
// the fault is, and what is expected there.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// A node that the target (an expression for nodes) may select.
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

// Returns the nodes that the target selects: those of `nodes` that match the target, and also nodes
// that are not in `nodes`, but are named in a list of the target (such as `L@web1,web2`) and match
// the target by their names. Returns a Refusal only if matching a regular expression takes too many
// steps.
[[nodiscard]] Result<Selection> select_nodes(const Target& target,
                                             const std::vector<TargetNode>& nodes);

}  // namespace fleet
