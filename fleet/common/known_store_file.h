// A node's knowledge of its store, on disk: one line, its epoch and its highest revision.
#pragma once

#include <string>

#include "fleet/model/store_judge.h"

namespace fleet {

// None was kept, or it cannot be read: it knows nothing.
[[nodiscard]] KnownStore read_known_store(const std::string& path);
// Whole, or as it was before. Why not; empty: it is on disk.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
