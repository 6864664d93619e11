// Reads and writes the directory in which an administrator keeps a cell's description, authorities
// and certificates. For a new cell, checks the existing certificates in the directory, and makes
// the missing certificates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "fleet/cell/cell_terms.h"

namespace fleetctl {

class CellDirectory {
 public:
  // Opens the directory and locks it, so that only one command uses it at a time. If the directory
  // is absent and `makes` is true, makes the directory, with access only for its owner. Returns an
  // empty string on success, or else why the directory cannot be used.
  [[nodiscard]] std::string open(const std::string& path, bool makes);
  // Returns the directory's absolute path, without symbolic links.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns the cell's description from the directory, or std::nullopt if the directory does not
  // contain one yet. Returns a Refusal if the description cannot be read.
  [[nodiscard]] upgrader::Result<std::optional<fleet::CellTerms>> terms() const;

 private:
  std::string path_;
  std::optional<upgrader::Lock> lock_;
};

// The mode of a file that only its owner may read.
inline constexpr unsigned int secret_mode = 0600;

struct CertificatesMade {
  std::vector<std::string> files = {};  // the new files, without the ending `.pem`
  // The reasons why no certificate was made, or why the work stopped: one sentence for each reason.
  // Empty after a success.
  std::vector<std::string> refused = {};
};

// Makes each wanted certificate that is missing in the directory, with its key. Never replaces a
// file. After a failure, another call continues where this one stopped. Only the owner of the files
// can read the keys.
[[nodiscard]] CertificatesMade make_certificates(
    const std::string& directory, const std::vector<fleet::CertificateWanted>& wanted);

}  // namespace fleetctl
