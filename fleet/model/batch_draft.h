// Cuts the nodes of a rollout into batches: how large the batches are, in which order the nodes
// come, and how many nodes of one place a batch may have. Pure; rollout_draft.h says which nodes
// move.
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

// A batch of this size still fits into one record, and one lease serves its commands.
inline constexpr std::int64_t batch_nodes_max = 1'000;
// A rollout with more batches than these takes days, so a person has to say that it is meant.
inline constexpr std::size_t batches_unasked_max = 100;
// Sizes in `--batches`. The last size is repeated, so that nobody needs many.
inline constexpr std::size_t batch_sizes_max = 20;
// Labels in `--apart`: each costs one comparison for each node of each batch.
inline constexpr std::size_t aparts_max = 8;
// A label and its number, as `--apart` has it.
inline constexpr std::size_t apart_bytes_max = 255;
inline constexpr std::size_t seed_bytes_max = 64;

inline constexpr std::string_view batches_default = "1,0.5%,4%,10%";

// A number of nodes, or a share of them.
struct Share {
  std::int64_t nodes = 1;
  std::int64_t thousandths = 0;  // of a per cent; in place of `nodes` where it is not 0

  // The number of nodes that this share of `all` nodes is, rounded up: at least one.
  [[nodiscard]] std::int64_t of(std::int64_t all) const;

  bool operator==(const Share&) const = default;
};

// `12`, `4%`, `0.5%`: 1 to 1,000 nodes, or 0.001 to 100 per cent.
[[nodiscard]] Result<Share> parse_share(std::string_view text);

// `1,0.5%,4%,10%`: one batch after the other; the last size is repeated.
[[nodiscard]] Result<std::vector<Share>> parse_batches(std::string_view text);

// At most so many nodes of one value of the label are in a batch.
struct Apart {
  std::string label = {};
  Share most = {};  // a share is of the nodes that have the value

  bool operator==(const Apart&) const = default;
};

// `LABEL`, `LABEL:2`, `LABEL:10%`.
[[nodiscard]] Result<Apart> parse_apart(std::string_view text);

// A node that moves, with the labels that it has.
struct PlacedNode {
  std::string id = {};
  std::map<std::string, std::string> labels = {};
};

struct BatchDraft {
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each are sorted by name
  // Of each label of `--apart`, the nodes that do not have it: each is a place of its own.
  std::map<std::string, std::vector<std::string>> unlabelled = {};
};

// Cuts `nodes` into batches; the sizes, the order and the labels in `terms` must parse. The same
// terms and nodes always make the same batches, in whatever order the nodes come. A node that would
// be one too many of its place goes with a later batch, so every node is in exactly one batch.
[[nodiscard]] BatchDraft draft_batches(const RolloutTerms& terms, std::vector<PlacedNode> nodes);

// A node's place in a random order, 0 to 2^64 - 1. The same seed and name always give the same
// place, and a node that does not know the seed cannot choose its place.
[[nodiscard]] std::uint64_t place_of(std::string_view seed, std::string_view node);

// The same without its seed and short enough for a record of thousands, to know a node again.
[[nodiscard]] std::int64_t short_place(std::string_view node);

// The time over which a batch of n nodes begins: its k-th node begins k/n of this time later.
[[nodiscard]] std::int64_t spread_ms(const RolloutTerms& terms, std::size_t nodes);

}  // namespace fleet
