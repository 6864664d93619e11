// Reads and writes the file by which a node recognises its store: one line with the store's epoch
// and the highest revision that the node has seen.
#pragma once

#include <string>

#include "fleet/model/store_judge.h"

namespace fleet {

// Reads the file. If it is absent or cannot be read, returns the state of a node that knows no
// store.
[[nodiscard]] KnownStore read_known_store(const std::string& path);
// Replaces the whole file. Returns why that failed, or an empty text. After a failure, the file is
// as before.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
