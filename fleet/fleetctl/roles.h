// What somebody may do in the store, by the kind of his name. Pure.
#pragma once

#include <string>

#include "fleet/store/etcd_admin.h"

namespace fleetctl {

[[nodiscard]] fleet::Permissions permissions_of(const std::string& kind, const std::string& who);

}  // namespace fleetctl
