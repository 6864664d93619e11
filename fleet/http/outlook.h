// Makes the outlook, the first part of the web page. It answers a person's first question: do I
// have to act? Does no input or output. Its lines are in three groups:
//
//     moves    rollouts, plans and desired versions that are under way; no person is needed
//     waits    work that a person has to do before it can continue, or trouble that gets worse
//     notes    facts that a person should know, but that are not urgent
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/model/reasons/held.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {

// A person has to renew the certificates of people and programs. So they are listed under `waits`
// from this many seconds before their expiry.
inline constexpr UnixSeconds certificate_care_s = 14 * 86'400;
// A node's certificate is listed under `waits` from this many seconds before its expiry. A node
// renews its certificate when a third of its life is left, so by this time the renewal must have
// failed.
inline constexpr UnixSeconds node_certificate_care_s = 3 * 86'400;
// If more than one in `silent_share` nodes is silent, the silent nodes are listed under `waits`
// instead of `notes`.
inline constexpr std::int64_t silent_share = 10;

// Degraded nodes are grouped by similar reasons. This many of the largest groups have a line each.
inline constexpr std::size_t degraded_shown = 5;

struct OutlookLine {
  std::string subject = {};  // the key of the record that this line is about, without /fleet/v1/
  std::string text = {};
  // When this rollout can end at the earliest. Only for lines in Outlook::moves.
  std::optional<UnixSeconds> not_before = {};
  // commands that a person can type to learn more or to act
  std::vector<std::string> commands = {};
};

struct Outlook {
  std::vector<OutlookLine> moves = {};
  std::vector<OutlookLine> waits = {};
  std::vector<OutlookLine> notes = {};
};

// The work that is held back, and why.
struct HeldWork {
  // Work that may not begin now, by subject, such as `rollout/r1`, `plan/p` or `desired/agent`.
  std::map<std::string, Held> work = {};
  std::vector<HeldPins> pins = {};
};

[[nodiscard]] Outlook outlook_of(const CellState& cell, const Health& health, UnixSeconds now,
                                 const HeldWork& held);

// Returns the outlook, the first part of the web page, as JSON.
[[nodiscard]] JsonTree tree_of(const Outlook& outlook);

// ---- phrases and groups of lines, which outlook_lines.cc makes for outlook_of()

// Returns `text: reason`. If there is no reason, returns only the text.
[[nodiscard]] std::string with_reason(std::string text, const std::string& reason);

// Adds lines about silent nodes and degraded ones (which report a trouble, such as a full disk).
void add_nodes(const CellState& cell, Outlook& outlook);

// Adds lines about the store: members that do not answer, a store that is full or was restored, and
// records that cannot be read.
void add_store(const CellState& cell, const Health& health, Outlook& outlook);

// Adds lines about certificates that expire soon or have expired: this controller's own, and those
// of nodes and people.
void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook);

}  // namespace fleet
