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
  // Opens the directory and locks it, so that only one command uses it at a time. With `makes`,
  // makes a directory that does not exist, which only its owner may read. Returns why the directory
  // cannot be used, or an empty text if it is open.
  [[nodiscard]] std::string open(const std::string& path, bool makes);
  // Returns the absolute path, without links.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns the terms that the directory keeps, or std::nullopt if it keeps none yet. A file that
  // cannot be read as terms is refused.
  [[nodiscard]] upgrader::Result<std::optional<fleet::CellTerms>> terms() const;

 private:
  std::string path_;
  std::optional<upgrader::Lock> lock_;
};

}  // namespace fleetctl
