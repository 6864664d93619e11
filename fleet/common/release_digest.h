// Computes the digest of a release. The record of a desired version contains it, so that nobody can
// replace the desired release by another one.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"

namespace fleet {

// Returns the SHA-256 of all manifests of a release and their signatures, in their order.
[[nodiscard]] std::string release_digest(const Release& release);

}  // namespace fleet
