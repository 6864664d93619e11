// The state of one member of the store, as the member itself reports it. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fleet {

struct MemberStatus {
  std::string version = {};
  std::int64_t database_bytes = 0;
  std::int64_t used_bytes = 0;
  bool leads = false;
  bool has_leader = false;
  // The alarms that the member reports, such as that its database is full.
  std::vector<std::string> errors = {};
};

}  // namespace fleet
