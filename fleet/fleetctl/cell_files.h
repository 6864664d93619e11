// The certificates of a new cell, in a directory: what is there is judged, and what is missing is
// made.
#pragma once

#include <string>
#include <vector>

#include "fleet/cell/cell_terms.h"

namespace fleetctl {

struct CertificatesMade {
  std::vector<std::string> files = {};    // those that were made, without .pem
  std::vector<std::string> refused = {};  // why nothing was made
};

// Makes those of the wanted certificates that the directory does not have, each behind its key, and
// replaces no file. After a failure the same call goes on. Keys are readable for their owner alone.
[[nodiscard]] CertificatesMade make_certificates(
    const std::string& directory, const std::vector<fleet::CertificateWanted>& wanted);

}  // namespace fleetctl
