// Makes the first part of the page, which answers a person's first question: do I have to act?
// Lists everything that is under way in the cell, and everything that waits for a person. Pure.
//
//     moves    rollouts, plans and desired versions under way: they need nobody
//     waits    goes on only when a person has done something, or gets worse until then
//     notes    a person should know of it, but it has time
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/http/health.h"

namespace fleet {

// The certificate of a person or a program is renewed by a person. The certificate is listed under
// `waits` from this many seconds before its end.
inline constexpr UnixSeconds certificate_care_s = 14 * 86'400;
// A node renews its certificate by itself when a third of its life is left. So if a node's
// certificate ends within this time, the renewal has failed.
inline constexpr UnixSeconds node_certificate_care_s = 3 * 86'400;
// If more than one in this many nodes is silent, the silent nodes are listed under `waits`.
inline constexpr std::int64_t silent_share = 10;

// Nodes can be degraded for different reasons. This many reasons have a line each. All other
// reasons have one line together.
inline constexpr std::size_t degraded_shown = 5;

struct OutlookLine {
  std::string subject = {};  // the key of the record that this line is about, without /fleet/v1/
  std::string text = {};
  // Only for lines under `moves`: when the move can end at the earliest.
  std::optional<UnixSeconds> not_before = {};
  // Commands that a person may type now, to look at the matter or to act. The page shows them.
  std::vector<std::string> commands = {};
};

struct Outlook {
  std::vector<OutlookLine> moves = {};
  std::vector<OutlookLine> waits = {};
  std::vector<OutlookLine> notes = {};
};

[[nodiscard]] Outlook outlook_of(const CellState& cell, const Health& health, UnixSeconds now);

// Returns the outlook as JSON.
[[nodiscard]] JsonTree tree_of(const Outlook& outlook);

}  // namespace fleet
