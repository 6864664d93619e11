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

}  // namespace fleetctl
