// Makes the outlook, which is the first part of the web page. The outlook answers a person's first
// question: do I have to act? It lists all work that is under way in the cell, and all work that
// waits for a person. Does no input or output. The lines are in three groups:
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

// A certificate of a person or a program is listed under `waits` from this many seconds before its
// expiry, since a person has to renew it.
inline constexpr UnixSeconds certificate_care_s = 14 * 86'400;
// A node's certificate is listed under `waits` from this many seconds before its expiry. A node
// renews its certificate by itself much earlier, when a third of the certificate's life is left. So
// the automatic renewal must have failed.
inline constexpr UnixSeconds node_certificate_care_s = 3 * 86'400;
// If more than one in `silent_share` nodes is silent, the silent nodes are listed under `waits`
// instead of `notes`.
inline constexpr std::int64_t silent_share = 10;

// Degraded nodes are grouped by similar reasons. This many of the largest groups have a line each;
// all other groups share one line.
inline constexpr std::size_t degraded_shown = 5;

struct OutlookLine {
  std::string subject = {};  // the key of the record that this line is about, without /fleet/v1/
  std::string text = {};
  // The earliest time at which the rollout of this line can be finished. Set only for lines in
  // Outlook::moves, the list of work that is under way.
  std::optional<UnixSeconds> not_before = {};
  // Commands that the page shows, so that a person can type them to learn more or to act.
  std::vector<std::string> commands = {};
};

struct Outlook {
  std::vector<OutlookLine> moves = {};
  std::vector<OutlookLine> waits = {};
  std::vector<OutlookLine> notes = {};
};

// The work that is held back, and why.
struct HeldWork {
  // The keys of the map are the subjects of the work, such as `rollout/r1`, `plan/p` or
  // `desired/agent`. Work that may begin is not in the map.
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

// Adds lines about degraded nodes (which report a trouble of their own, such as a full disk) and
// silent nodes (which do not report at all).
void add_nodes(const CellState& cell, Outlook& outlook);

// Adds lines about the store: members that do not answer, a store that is full or was restored, and
// records that cannot be read.
void add_store(const CellState& cell, const Health& health, Outlook& outlook);

// Adds lines about certificates that have expired or expire soon. These are the certificates in
// this controller's files, and those of enrolled nodes and people.
void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook);

}  // namespace fleet
