// The members of the store: the list of all of them, and the state of one member, as the member
// itself reports it. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fleet {

struct StoreMember {
  std::uint64_t id = 0;
  std::string name = {};  // empty as long as the member has not started for the first time
  std::vector<std::string> urls = {};  // its addresses for clients; none until then
};

struct MemberStatus {
  std::uint64_t id = 0;
  std::string version = {};
  std::int64_t database_bytes = 0;
  std::int64_t used_bytes = 0;
  bool leads = false;
  bool has_leader = false;
  // The alarms that the member reports, such as that its database is full.
  std::vector<std::string> errors = {};
};

}  // namespace fleet
