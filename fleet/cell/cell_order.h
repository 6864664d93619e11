// The terms of a cell as its directory keeps them, and as they change when `fleetctl cell init` is
// called again. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/cell/cell_terms.h"

namespace fleet {

// A line for each machine: `member NAME ADDRESS` or `controller NAME ADDRESS`.
[[nodiscard]] std::string cell_text(const CellTerms& terms);
// Refuses any other text, with the number of the line.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// NAME=ADDRESS, as the command line has it. No value if the text is not such a pair.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// The terms of a cell that had those before (none: it is new) and is ordered to have these. A
// controller may be added. Refused are a change of an address, and another member: etcd itself adds
// members to a store that runs.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
