// Fills the store of a trial cell, and finds out whether the cell's programs work.
#pragma once

#include <string>

#include "fleet/cell/dev_cell.h"

namespace fleetctl {

// Returns whether etcd answers and has a leader.
[[nodiscard]] bool is_store_ready(const fleet::DevTerms& terms);
// Adds users, roles, enrolments and releases to the store, unless they exist already. Returns why
// that failed, or an empty text.
[[nodiscard]] std::string fill_store(const fleet::DevTerms& terms);
// Returns whether the web page is served and every node reports its versions.
[[nodiscard]] bool do_all_report(const fleet::DevTerms& terms);

}  // namespace fleetctl
