// Finds out whether a cell lacks a fleet-signer, for the outlook (outlook.h). A fleet-signer that
// is at work has a record in the store, on a lease. Pure.
#pragma once

#include <optional>
#include <string>

#include "fleet/http/cell_state.h"

namespace fleet {

struct SilentSigner {
  std::string words = {};   // the consequences of the signer's absence, for people
  bool is_awaited = false;  // whether a machine or a node waits for a signer already
};

// Returns no value if a fleet-signer is at work at the time `now`, or if neither a machine nor a
// node can need one.
[[nodiscard]] std::optional<SilentSigner> silent_signer(const CellState& cell, UnixSeconds now);

}  // namespace fleet
