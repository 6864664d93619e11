// The file of --http-crl: read anew when it changes, so that whoever is revoked while the
// controller runs is refused from then on. While the file is absent or damaged, the list that was
// read last stays in force.
#pragma once

#include <sys/stat.h>

#include <string>

namespace fleet {

class RevocationFile {
 public:
  // Empty if there is no list.
  explicit RevocationFile(std::string path);

  // Looks at the file; true: another list is in force since.
  bool look();
  // PEM; empty: there is no list.
  [[nodiscard]] const std::string& list() const { return list_; }
  // Why the file cannot be read now; empty: it can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_;
  std::string list_ = {};
  std::string trouble_ = {};
  struct stat seen_ = {};
};

}  // namespace fleet
