// The digest that `desired` names beside a version, so that nobody can put another release in its
// place.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"

namespace fleet {

// SHA-256 over every manifest of a release, and its signature, in their order.
[[nodiscard]] std::string release_digest(const Release& release);

}  // namespace fleet
