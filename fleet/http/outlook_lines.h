// Adds lines about nodes and certificates to the first answer of the page (outlook.h), and makes
// phrases that its lines share. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "fleet/http/outlook.h"

namespace fleet {

// Returns `1 node`, `2 nodes`.
[[nodiscard]] std::string counted(std::size_t count, const std::string& one);
// Returns `text: reason`, or the text alone if there is no reason.
[[nodiscard]] std::string with_reason(std::string text, const std::string& reason);

// Adds lines about nodes that are degraded or silent.
void add_nodes(const CellState& cell, Outlook& outlook);

// Adds lines about certificates that have ended or end soon: those in the files of this controller,
// and those of enrolled nodes and people.
void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook);

}  // namespace fleet
