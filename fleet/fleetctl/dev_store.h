// Fills the store of a trial cell, and looks whether its programs do their work.
#pragma once

#include <string>

#include "fleet/cell/dev_cell.h"

namespace fleetctl {

// Whether etcd answers, and leads.
[[nodiscard]] bool is_store_ready(const fleet::DevTerms& terms);
// Users, roles, enrolments and releases; what is there stays. Returns why it cannot be done; empty:
// it is.
[[nodiscard]] std::string fill_store(const fleet::DevTerms& terms);
// Whether the page is served, and every node reports its versions.
[[nodiscard]] bool do_all_report(const fleet::DevTerms& terms);

}  // namespace fleetctl
