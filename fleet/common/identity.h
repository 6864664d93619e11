// Finds out ids and facts of this process and its machine for records, and converts times to texts.
// With the ids, fleet-agent recognizes a second machine with the same node name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

// Returns a new random id. Does not read one from /proc/sys, which a systemd unit may hide.
[[nodiscard]] std::string new_instance_id();
// Returns the first line of the file, an id that changes at each boot.
[[nodiscard]] std::string boot_id(const std::string& file);
// Returns a hash of the machine id in the file, or an empty string if there is none. Two machines
// with the same id are copies of each other.
[[nodiscard]] std::string machine_id(const std::string& file);
// Returns four facts about this machine, by their names: `os`, `arch`, `kernel` and `host`.
[[nodiscard]] std::map<std::string, std::string> facts_of_this_machine();
// Returns the host's name without its domain, in lower case. If the result is a valid id (see
// keys.h), it can be the machine's name in a cell.
[[nodiscard]] std::string name_of_this_machine();
// Returns a time, given in seconds since 1970, as a text for people: RFC 3339 in UTC.
[[nodiscard]] std::string time_text_of(std::int64_t seconds);
// Returns the current time as a text for people.
[[nodiscard]] std::string time_text();
// Returns the time `seconds` seconds ago, as a text for people.
[[nodiscard]] std::string time_text_before(std::int64_t seconds);

}  // namespace fleet
