// Adds lines about nodes and certificates to the outlook, which is the first part of the page
// (outlook.h), and makes phrases that several lines need. Does no input or output.
#pragma once

#include <cstddef>
#include <string>

#include "fleet/http/outlook.h"

namespace fleet {

// Returns a number with its noun, such as `1 node` or `2 nodes`.
[[nodiscard]] std::string counted(std::size_t count, const std::string& one);
// Returns `text: reason`. If there is no reason, returns only the text.
[[nodiscard]] std::string with_reason(std::string text, const std::string& reason);

// Adds lines about degraded nodes and silent nodes.
void add_nodes(const CellState& cell, Outlook& outlook);

// Adds lines about certificates that have expired or expire soon: those in the files of this
// controller, and those of enrolled nodes and people.
void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook);

}  // namespace fleet
