// Converts the terms of a cell, which name its machines, to the text in the cell's directory, and
// back. Decides how a later call of `fleetctl cell init` may change the terms. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/cell/cell_terms.h"

namespace fleet {

// Returns a line for each machine: `member NAME ADDRESS`, `controller NAME ADDRESS` or `signer
// NAME`.
[[nodiscard]] std::string cell_text(const CellTerms& terms);
// Reads the text that cell_text() has made. Returns a Refusal with the number of the first wrong
// line.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// Reads NAME=ADDRESS, as in an option of the command line. Returns std::nullopt if the text has
// another form.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// Returns the terms of a cell after `fleetctl cell init` has asked for `wanted`. `before` has the
// cell's present terms, or std::nullopt for a new cell. Controllers and signers may be added.
// Returns a Refusal if an address would change, or if a member of the store would be added: only
// etcd itself can add a member while the store runs.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
