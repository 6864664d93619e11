// Cuts the nodes of a rollout into batches: decides how large the batches are, in which order the
// nodes come, and how many nodes with one value of a label a batch may have. Pure; rollout_draft.h
// decides which nodes move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The largest size of a batch. A larger batch would not fit into one record, nor its commands under
// one lease.
inline constexpr std::int64_t batch_nodes_max = 1'000;
// The most batches that need no confirmation by a person. A rollout with more batches takes days,
// so a person has to say that this is meant.
inline constexpr std::size_t batches_unasked_max = 100;
// The most sizes in `--batches`. Nobody needs more, since the last size holds for all further
// batches.
inline constexpr std::size_t batch_sizes_max = 20;
// The most labels in `--apart`: each label costs one comparison for each node of each batch.
inline constexpr std::size_t aparts_max = 8;
// The longest value of one `--apart`, in bytes.
inline constexpr std::size_t apart_bytes_max = 255;
inline constexpr std::size_t seed_bytes_max = 64;

inline constexpr std::string_view batches_default = "1,0.5%,4%,10%";

// The size of a batch: a number of nodes, or a share of all nodes.
struct Share {
  std::int64_t nodes = 1;
  // The share in thousandths of a per cent. If it is not 0, `nodes` is ignored.
  std::int64_t thousandths = 0;

  // Converts the share to a number of nodes, if there are `all` nodes: rounded up, and at least
  // one.
  [[nodiscard]] std::int64_t of(std::int64_t all) const;

  bool operator==(const Share&) const = default;
};

// Parses `12`, `4%` or `0.5%`: 1 to 1,000 nodes, or 0.001 to 100 per cent.
[[nodiscard]] Result<Share> parse_share(std::string_view text);

// Parses `1,0.5%,4%,10%`: the sizes of the batches in their order; the last size is repeated.
[[nodiscard]] Result<std::vector<Share>> parse_batches(std::string_view text);

// The most nodes with the same value of a label that one batch may have.
struct Apart {
  std::string label = {};
  Share most = {};  // a percentage means: of all nodes with the same value

  bool operator==(const Apart&) const = default;
};

// Parses `LABEL`, `LABEL:2` or `LABEL:10%`.
[[nodiscard]] Result<Apart> parse_apart(std::string_view text);

// A node of the rollout, and its labels.
struct PlacedNode {
  std::string id = {};
  std::map<std::string, std::string> labels = {};
};

struct BatchDraft {
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each batch are sorted by name
  // For each label of `--apart`, the nodes without this label. Each such node counts as if it had a
  // value of its own.
  std::map<std::string, std::vector<std::string>> unlabelled = {};
};

// Cuts `nodes` into batches by the sizes, the order and the labels in `terms`, which must parse.
// The same terms and nodes always make the same batches, in whatever order the nodes come. If a
// batch has as many nodes with one value of a label as it may have, further nodes with that value
// go into a later batch.
[[nodiscard]] BatchDraft draft_batches(const RolloutTerms& terms, std::vector<PlacedNode> nodes);

// Returns the node's place in a random order, as a number from 0 to 2^64 - 1. The same seed and
// name always give the same place. So a node that does not know the seed cannot choose a name by
// which it comes early or late.
[[nodiscard]] std::uint64_t place_of(std::string_view seed, std::string_view node);

// Returns a number that depends only on the node's name, by which the node can be recognised. It is
// short, so that one record can list thousands of nodes.
[[nodiscard]] std::int64_t short_place(std::string_view node);

// Returns how long after the first node of a batch the last one begins, at most. Of n nodes, the
// k-th begins after k/n of this time.
[[nodiscard]] std::int64_t spread_ms(const RolloutTerms& terms, std::size_t nodes);

}  // namespace fleet
