// The file of --http-crl. It is read anew when it changes, so that a certificate that is revoked
// while the controller runs is refused from then on. While the file is absent or damaged, the list
// that was read last remains in force.
#pragma once

#include <sys/stat.h>

#include <string>

namespace fleet {

class RevocationFile {
 public:
  // `path` is empty if there is no list.
  explicit RevocationFile(std::string path);

  // Looks at the file. Returns true if another list is in force since then.
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
