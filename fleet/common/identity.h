// Finds out ids and facts of this process and its machine, for the store's records, and converts
// times to texts. By the ids, fleet-agent recognizes another machine that uses the same node name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

// Returns a new random id. Reads no file, since a unit of systemd may hide /proc/sys from its
// processes.
[[nodiscard]] std::string new_instance_id();
// Returns the first line of the file, an id that changes at each boot.
[[nodiscard]] std::string boot_id(const std::string& file);
// Returns a hash of the machine id in the file. No two machines have the same machine id, unless
// one is a copy of the other. Returns an empty string if there is no machine id.
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
