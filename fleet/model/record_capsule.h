// Cuts the evidence of a failure, which comes from a node, to the lengths that a record may hold.
#pragma once

#include <cstddef>
#include <vector>

#include "fleet/model/node_records.h"

namespace fleet {

// The limits for the parts of a capsule, in bytes of their JSON form. If all parts are at their
// limits, the JSON of the whole capsule still has at most capsule_bytes_max bytes.
inline constexpr std::size_t capsule_stage_bytes_max = 32;
inline constexpr std::size_t capsule_reason_bytes_max = 480;
inline constexpr std::size_t capsule_lines_bytes_max = 440;
inline constexpr std::size_t capsule_differs_bytes_max = 260;
inline constexpr std::size_t capsule_lines_max = 8;
inline constexpr std::size_t capsule_differs_max = 6;

// Keeps the first capsule and drops all others. In the kept capsule, keeps the newest lines and the
// first differences. Replaces a number that is out of range by the number that means "unknown".
void cut_evidence(std::vector<Capsule>& evidence);

}  // namespace fleet
