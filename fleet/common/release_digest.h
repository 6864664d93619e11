// Makes the digest that a wish (`desired`) names beside a version, so that nobody can put another
// release in its place.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"

namespace fleet {

// Returns the SHA-256 of all manifests of a release and their signatures, in their order.
[[nodiscard]] std::string release_digest(const Release& release);

}  // namespace fleet
