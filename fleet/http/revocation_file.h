// Reads the list of revoked certificates in the file of --http-crl. When the file changes, it is
// read again, so that a running controller refuses a certificate that was revoked meanwhile. If the
// file becomes absent or damaged, the last list stays in force.
#pragma once

#include <sys/stat.h>

#include <string>

namespace fleet {

class RevocationFile {
 public:
  // `path` is empty if there is no revocation list.
  explicit RevocationFile(std::string path);

  // Reads the file if it has changed. Returns true if the list differs from before.
  bool look();
  // Returns the list in PEM, or an empty text if there is none.
  [[nodiscard]] const std::string& list() const { return list_; }
  // Returns why the file cannot be read now, or an empty text if it can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_;
  std::string list_ = {};
  std::string trouble_ = {};
  struct stat seen_ = {};
};

}  // namespace fleet
