// Reads and writes the file by which a node recognises its store: one line with the store's epoch
// and the highest revision that the node has seen.
#pragma once

#include <string>

#include "fleet/model/store_judge.h"

namespace fleet {

// Reads the file. If the file is absent or cannot be read, returns the value for a node that has
// not seen any store yet.
[[nodiscard]] KnownStore read_known_store(const std::string& path);
// Replaces the whole file. Returns an empty text on success, or else the reason for the failure.
// After a failure, the file is unchanged.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
