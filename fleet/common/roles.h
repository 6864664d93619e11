// Decides the rights of a user in the store, by the kind in its name, such as `node` or `operator`.
// Pure.
#pragma once

#include <string>

#include "fleet/store/etcd_admin.h"

namespace fleet {

[[nodiscard]] Permissions permissions_of(const std::string& kind, const std::string& who);

}  // namespace fleet
