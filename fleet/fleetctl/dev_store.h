// Fills the store of a trial cell, and finds out whether all programs of the cell work.
#pragma once

#include <string>

#include "fleet/cell/dev_cell.h"

namespace fleetctl {

// Returns whether etcd answers and has a leader.
[[nodiscard]] bool is_store_ready(const fleet::DevTerms& terms);
// Adds users, roles, enrolments and releases to the store, unless they exist already. Returns an
// empty text on success, or else the reason for the failure.
[[nodiscard]] std::string fill_store(const fleet::DevTerms& terms);
// Returns whether a controller serves the web page and every node reports its versions.
[[nodiscard]] bool do_all_report(const fleet::DevTerms& terms);

}  // namespace fleetctl
