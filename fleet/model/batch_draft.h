// This file divides the nodes of a rollout into batches. It decides how large each batch is, in
// which order the nodes come, and how many nodes with the same value of a label one batch may have.
// rollout_draft.h decides which nodes the rollout moves. This file does no input or output.
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

// The most nodes in one batch. The names of more nodes would not fit into one record, and their
// commands would not fit under one lease.
inline constexpr std::int64_t batch_nodes_max = 1'000;
// The most batches that a rollout may have unless the person who starts it explicitly allows more.
// A rollout with more batches takes days.
inline constexpr std::size_t batches_unasked_max = 100;
// The most sizes in `--batches`. Nobody needs more, since the last size also applies to all later
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
  // The share of the nodes, in thousandths of a per cent. If it is 0, the size is the number
  // `nodes`; otherwise `nodes` is ignored.
  std::int64_t thousandths = 0;

  // Returns the size as a number of nodes. If the size is a share, it is a share of `all` nodes,
  // and is rounded up. The result is at least 1, and at most batch_nodes_max.
  [[nodiscard]] std::int64_t of(std::int64_t all) const;

  bool operator==(const Share&) const = default;
};

// Parses the size of a batch, such as `12`, `4%` or `0.5%`: 1 to 1,000 nodes, or 0.001 to 100 per
// cent of all nodes.
[[nodiscard]] Result<Share> parse_share(std::string_view text);

// Parses the sizes of the batches, such as `1,0.5%,4%,10%`. The last size also applies to all later
// batches.
[[nodiscard]] Result<std::vector<Share>> parse_batches(std::string_view text);

// A value of `--apart`: how many nodes with the same value of a label one batch may have.
struct Apart {
  std::string label = {};
  Share most = {};  // a percentage means: of all nodes with the same value

  bool operator==(const Apart&) const = default;
};

// Parses a value of `--apart`: `LABEL:2`, `LABEL:10%`, or `LABEL`, which means `LABEL:1`.
[[nodiscard]] Result<Apart> parse_apart(std::string_view text);

// A node of the rollout, and its labels.
struct PlacedNode {
  std::string id = {};
  std::map<std::string, std::string> labels = {};
};

struct BatchDraft {
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each batch are sorted by name
  // For each label of `--apart`, the nodes without this label. Each such node counts as if it had a
  // value of its own, so the limit for this label never keeps the node out of a batch.
  std::map<std::string, std::vector<std::string>> unlabelled = {};
};

// Divides `nodes` into batches by the sizes, the order and the labels in `terms`, which must be
// valid. The same terms and nodes always make the same batches, whatever the order of `nodes`. If a
// batch already has as many nodes with one value of a label as `--apart` allows, the other nodes
// with that value go into a later batch.
[[nodiscard]] BatchDraft draft_batches(const RolloutTerms& terms, std::vector<PlacedNode> nodes);

// Returns the node's place in a random order, as a number from 0 to 2^64 - 1. The place depends
// only on the seed and the node's name. A node that does not know the seed cannot choose a name
// that gives the node an early or a late place.
[[nodiscard]] std::uint64_t place_of(std::string_view seed, std::string_view node);

// Returns a short number that stands for the node, and depends only on the node's name. One record
// can list thousands of nodes by these numbers.
[[nodiscard]] std::int64_t short_place(std::string_view node);

// Returns the time over which the nodes of a batch begin their upgrades. Of n nodes, the k-th,
// counted from 0, begins after k/n of this time.
[[nodiscard]] std::int64_t spread_ms(const RolloutTerms& terms, std::size_t nodes);

}  // namespace fleet
