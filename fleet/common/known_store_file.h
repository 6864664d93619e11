// The file of a node's knowledge about its store: one line with the epoch and the highest revision.
#pragma once

#include <string>

#include "fleet/model/store_judge.h"

namespace fleet {

// Returns no knowledge if there is no file, or it cannot be read.
[[nodiscard]] KnownStore read_known_store(const std::string& path);
// Writes the whole file, or leaves it as it was. Returns why it failed, or an empty text if the
// file is written.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
