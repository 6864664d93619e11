// The directory in which an administrator keeps a cell: its terms, authorities and certificates.
// Makes the certificates of a new cell in it: checks those that exist, and makes those that are
// missing.
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
  // Opens the directory and locks it, so that only one command uses it at a time. If `makes` is
  // true and the directory is absent, makes it, readable for its owner alone. Returns why the
  // directory cannot be used, or an empty text.
  [[nodiscard]] std::string open(const std::string& path, bool makes);
  // Returns the directory's absolute path, without symbolic links.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns the cell's terms from the directory, or std::nullopt if it has no file of terms yet.
  // Returns a Refusal if that file cannot be read.
  [[nodiscard]] upgrader::Result<std::optional<fleet::CellTerms>> terms() const;

 private:
  std::string path_;
  std::optional<upgrader::Lock> lock_;
};

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
