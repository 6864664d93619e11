// Reads and writes the directory with a cell's terms, authorities and certificates. For a new cell,
// checks the existing certificates and makes the missing ones.
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
  // Opens the directory and locks it, so that only one command uses it at a time. If it is absent
  // and `makes` is true, makes it, for its owner only. Returns why this failed, or an empty string.
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
  // Why no certificate was made, or why the work stopped, in one sentence each; empty after a
  // success.
  std::vector<std::string> refused = {};
};

// Makes each wanted certificate that is missing, with its key, which only the owner can read. Never
// replaces a file. After a failure, another call continues.
[[nodiscard]] CertificatesMade make_certificates(
    const std::string& directory, const std::vector<fleet::CertificateWanted>& wanted);

}  // namespace fleetctl
