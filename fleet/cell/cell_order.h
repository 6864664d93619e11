// The text in which a cell's directory keeps the terms of the cell, and the change of the terms
// when `fleetctl cell init` is called again. Pure.
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
// Reads what cell_text() wrote. Any other text is refused with the number of the line.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// Reads NAME=ADDRESS of the command line. Returns std::nullopt if the text is not such a pair.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// Returns the terms that a cell has after an order. `before` is std::nullopt for a new cell. An
// order may add controllers and signers. A change of an address is refused, and so is another
// member, since etcd itself adds members to a store that runs.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
