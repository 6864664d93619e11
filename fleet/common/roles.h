// Decides the rights of a user in the store, by the kind of its name. Pure.
#pragma once

#include <string>

#include "fleet/store/etcd_admin.h"

namespace fleet {

[[nodiscard]] Permissions permissions_of(const std::string& kind, const std::string& who);

}  // namespace fleet
