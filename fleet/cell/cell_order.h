// Converts the description of a cell, which names its machines, to the text that is kept in the
// cell's directory, and back. Decides how a later call of `fleetctl cell init` may change the
// description. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/cell/cell_terms.h"

namespace fleet {

// Returns the cell's description as a text with one line for each machine: `member NAME ADDRESS`,
// `controller NAME ADDRESS` or `signer NAME`.
[[nodiscard]] std::string cell_text(const CellTerms& terms);
// Parses a text that cell_text() has made. If the text is damaged, returns a Refusal with the
// number of the first wrong line.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// Parses NAME=ADDRESS, the value of an option on the command line. Returns std::nullopt if the text
// has another form.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// Returns the description of a cell after `fleetctl cell init` was called with `wanted`. `before`
// is the cell's present description, or std::nullopt for a new cell. Controllers and signers may be
// added. Returns a Refusal if an address would change, or if a member of the store would be added,
// since a member can be added to a running store only by etcd itself.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
