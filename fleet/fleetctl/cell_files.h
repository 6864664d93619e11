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
  std::vector<std::string> files = {};  // the names of the new files, without `.pem`
  // Why no file was made, a sentence for each reason; empty if files were made.
  std::vector<std::string> refused = {};
};

// Makes the wanted certificates that are missing in the directory, each with its key. Never
// replaces a file. After a failure, the same call continues. Only their owner can read the keys.
[[nodiscard]] CertificatesMade make_certificates(
    const std::string& directory, const std::vector<fleet::CertificateWanted>& wanted);

}  // namespace fleetctl
