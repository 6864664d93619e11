// Names this process and its machine, for records. Only one decision depends on these names: two
// machines must not share a node's name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

// Returns a new id for each process.
[[nodiscard]] std::string new_instance_id();
// Returns the first line of the file, which has a new id after each boot.
[[nodiscard]] std::string boot_id(const std::string& file);
// Returns a text that tells this machine from others without revealing its machine id, or an empty
// text if it has none.
[[nodiscard]] std::string machine_id(const std::string& file);
// Returns os, arch, kernel and host.
[[nodiscard]] std::map<std::string, std::string> facts_of_this_machine();
// Returns a time, given in seconds since 1970, for people: RFC 3339 in UTC.
[[nodiscard]] std::string time_text_of(std::int64_t seconds);
// Returns the present time for people.
[[nodiscard]] std::string time_text();
// Returns the time `seconds` seconds ago, for people.
[[nodiscard]] std::string time_text_before(std::int64_t seconds);

}  // namespace fleet
