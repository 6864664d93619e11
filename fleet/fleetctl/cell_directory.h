// The directory in which an administrator keeps a cell: its terms, authorities and certificates.
#pragma once

#include <optional>
#include <string>

#include "base/lock.h"
#include "base/result.h"
#include "fleet/cell/cell_terms.h"

namespace fleetctl {

class CellDirectory {
 public:
  // Opens the directory for one command at a time; makes it, for its owner alone, if `makes`.
  // Returns why it cannot be used; empty: it is open.
  [[nodiscard]] std::string open(const std::string& path, bool makes);
  // Absolute, without links.
  [[nodiscard]] const std::string& path() const { return path_; }

  // The terms that it keeps; none: it keeps none yet. Refused if the file is no such file.
  [[nodiscard]] upgrader::Result<std::optional<fleet::CellTerms>> terms() const;

 private:
  std::string path_;
  std::optional<upgrader::Lock> lock_;
};

}  // namespace fleetctl
