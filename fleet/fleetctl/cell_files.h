// Makes the certificates of a new cell in a directory: checks those that exist, and makes those
// that are missing.
#pragma once

#include <string>
#include <vector>

#include "fleet/cell/cell_terms.h"

namespace fleetctl {

// The mode of a file that only its owner may read.
inline constexpr unsigned int secret_mode = 0600;

struct CertificatesMade {
  std::vector<std::string> files = {};    // the names of the new files, without `.pem`
  std::vector<std::string> refused = {};  // why nothing was made
};

// Makes those of the wanted certificates that the directory does not have, each with its key. Never
// replaces a file. After a failure, the same call continues. The keys can be read only by their
// owner.
[[nodiscard]] CertificatesMade make_certificates(
    const std::string& directory, const std::vector<fleet::CertificateWanted>& wanted);

}  // namespace fleetctl
