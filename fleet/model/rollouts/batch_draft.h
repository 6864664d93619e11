// This file divides the nodes of a rollout into batches. It decides three things: how large each
// batch is, in which order the nodes come, and which nodes must not be in the same batch because
// they have the same value of a label. rollout_draft.h decides which nodes the rollout moves. This
// file does no input or output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/rollout_records.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The most nodes in one batch. One record lists all nodes of a batch, and one lease is for the
// commands to all of them. For more nodes, the record would be too long, and the lease would have
// too many keys.
inline constexpr std::int64_t batch_nodes_max = 1'000;
// The most batches of a rollout, unless the person who starts the rollout allows more. A rollout
// with more batches takes days.
inline constexpr std::size_t batches_unasked_max = 100;
// The most sizes in `--batches`. More sizes are not useful, since the last size applies to all
// later batches.
inline constexpr std::size_t batch_sizes_max = 20;
// The most options `--apart` of a rollout. Each one costs one comparison for each node of each
// batch.
inline constexpr std::size_t aparts_max = 8;
// The longest value of one `--apart`, in bytes.
inline constexpr std::size_t apart_bytes_max = 255;
inline constexpr std::size_t seed_bytes_max = 64;

inline constexpr std::string_view batches_default = "1,0.5%,4%,10%";

// A number of nodes, or a share of all nodes. For example, the size of a batch is a Share.
struct Share {
  std::int64_t nodes = 1;
  // A share of all nodes, in thousandths of a per cent. 0 means that `nodes` is used instead. If
  // `thousandths` is not 0, `nodes` is ignored.
  std::int64_t thousandths = 0;

  // Returns the number of nodes: a share is rounded up, and is a share of `all` nodes. The result
  // is at least 1, and at most batch_nodes_max.
  [[nodiscard]] std::int64_t of(std::int64_t all) const;

  bool operator==(const Share&) const = default;
};

// Parses the size of a batch, such as `12`, `4%` or `0.5%`: 1 to 1,000 nodes, or 0.001 to 100 per
// cent of all nodes.
[[nodiscard]] Result<Share> parse_share(std::string_view text);

// Parses the sizes of the batches, such as `1,0.5%,4%,10%`. The last size also applies to all later
// batches.
[[nodiscard]] Result<std::vector<Share>> parse_batches(std::string_view text);

// The parsed value of an option `--apart`: one batch may have at most `most` nodes with the same
// value of the label.
struct Apart {
  std::string label = {};
  Share most = {};  // a percentage is a share of all nodes with the same value of the label

  bool operator==(const Apart&) const = default;
};

// Parses the value of an option `--apart`: `LABEL:2`, `LABEL:10%`, or `LABEL`, which means
// `LABEL:1`.
[[nodiscard]] Result<Apart> parse_apart(std::string_view text);

// A node of the rollout, and its labels.
struct PlacedNode {
  std::string id = {};
  std::map<std::string, std::string> labels = {};
};

struct BatchDraft {
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each batch are sorted by name
  // For each label of `--apart`, the nodes that do not have the label. The limit for this label
  // never keeps such a node out of a batch.
  std::map<std::string, std::vector<std::string>> unlabelled = {};
};

// Divides `nodes` into batches by the sizes, the order and the labels in `terms`, which must be
// valid. The same terms and nodes always make the same batches, even if `nodes` is in a different
// order. If a batch already has as many nodes with one value of a label as `--apart` allows, the
// other nodes with that value go into later batches.
[[nodiscard]] BatchDraft draft_batches(const RolloutTerms& terms, std::vector<PlacedNode> nodes);

// Returns the node's position in a random order, as a number from 0 to 2^64 - 1. The position
// depends only on the seed and the node's name. So a person who does not know the seed cannot
// choose a name that makes a node one of the first or one of the last.
[[nodiscard]] std::uint64_t place_of(std::string_view seed, std::string_view node);

// Returns a short number that stands for the node, and depends only on the node's name. Such
// numbers are so short that one record can list thousands of nodes.
[[nodiscard]] std::int64_t short_place(std::string_view node);

// Returns the time over which the nodes of a batch begin their upgrades. Of n nodes, the k-th,
// counted from 0, begins after k/n of this time.
[[nodiscard]] std::int64_t spread_ms(const RolloutTerms& terms, std::size_t nodes);

}  // namespace fleet
