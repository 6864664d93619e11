// Which nodes a person means: an expression over their names and facts, as a value.
//
//     web*                     nodes whose id matches the glob: * ? [abc] [!a-z]
//     E@web[0-9]+\.(east|west) PCRE, of the whole id: E@web1 is not web10
//     L@web1,web2              these
//     G@os:linux               a fact of the node, or a label where no fact is called so: KEY:GLOB
//     not A, A and B, A or B   in this order of strength; parentheses as usual
//
// A term ends at white space or at a parenthesis; a regular expression only at a closing one that
// it has not opened. A text with other such characters stands in quotes: E@"a b".
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

// A screenful; who needs more gives the nodes a label.
inline constexpr std::size_t target_bytes_max = 4096;
inline constexpr std::size_t target_terms_max = 256;

struct TargetTerm {
  enum class Kind { glob, regex, list, fact, negation, conjunction, disjunction };

  Kind kind = Kind::glob;
  std::string key = {};                  // of a fact
  std::string pattern = {};              // of a glob, regex or fact
  std::vector<std::string> listed = {};  // sorted

  bool operator==(const TargetTerm&) const = default;
};

// The terms, each operation behind what it is applied to. Never empty once parsed.
struct Target {
  std::vector<TargetTerm> terms = {};

  bool operator==(const Target&) const = default;
};

// Refused with the place, a byte counted from 1, and what was expected there.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// A node that may be meant.
struct TargetNode {
  std::string id = {};
  NodeInfo info = {};
  bool reports = false;  // an instance of it has a living lease

  bool operator==(const TargetNode&) const = default;
};

struct Selection {
  std::vector<std::string> nodes = {};        // meant, and reporting; sorted
  std::vector<std::string> not_covered = {};  // meant, and not reporting or not known; sorted

  bool operator==(const Selection&) const = default;
};

// Over the nodes as they are now. Refused only where a regular expression takes too long on an id.
[[nodiscard]] Result<Selection> select_nodes(const Target& target,
                                             const std::vector<TargetNode>& nodes);

}  // namespace fleet
