// Decides which keys a user of the store may read and write, by the kind of user in the first part
// of the name: `operator:anna` has the permissions of an operator. Does no input or output.
#pragma once

#include <string>

#include "fleet/store/etcd_admin.h"

namespace fleet {

[[nodiscard]] Permissions permissions_of(const std::string& kind, const std::string& who);

}  // namespace fleet
