// Makes the metrics of the cell for Prometheus, in version 0.0.4 of Prometheus's text format. Does
// no input or output.
#pragma once

#include <string>

#include "fleet/http/cell_state.h"

namespace fleet {

inline constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";

[[nodiscard]] std::string metrics_text(const CellState& cell, const Health& health);

}  // namespace fleet
