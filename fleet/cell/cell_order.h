// Writes and reads the terms of a cell, which are its machines, as a text in the cell's directory.
// Decides how `fleetctl cell init` may change the terms if it is called again. Pure.
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

// Returns the cell's terms after an order. `before` is std::nullopt for a new cell. An order may
// add controllers and signers. It may not change an address, nor add a member of the store, which
// only etcd itself can do while the store runs.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
