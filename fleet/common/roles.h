// Decides which keys a user of the store may read and write. The first part of the user's name is
// the kind of user: for example, `operator:anna` has the permissions of an operator. This file does
// no input or output.
#pragma once

#include <string>

#include "fleet/store/etcd_admin.h"

namespace fleet {

[[nodiscard]] Permissions permissions_of(const std::string& kind, const std::string& who);

}  // namespace fleet
