// Makes a release's digest. A desired version has the digest in it, so that nobody can put another
// release in the place of the desired one.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"

namespace fleet {

// Returns the SHA-256 of all manifests of a release and their signatures, in their order.
[[nodiscard]] std::string release_digest(const Release& release);

}  // namespace fleet
