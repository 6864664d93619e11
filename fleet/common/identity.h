// Finds out ids and facts of this process and its machine, for records, and writes times as texts.
// By the ids, fleet-agent recognises that another machine uses the same node's name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

// Returns a new id for this process, as an instance of its node.
[[nodiscard]] std::string new_instance_id();
// Returns the first line of the file: an id that changes at each boot.
[[nodiscard]] std::string boot_id(const std::string& file);
// Returns a hash of the machine id in the file, by which machines differ. Returns an empty text if
// there is no machine id.
[[nodiscard]] std::string machine_id(const std::string& file);
// Returns the facts `os`, `arch`, `kernel` and `host`.
[[nodiscard]] std::map<std::string, std::string> facts_of_this_machine();
// Returns the host's name without its domain, in small letters. The result can be the machine's
// name in a cell if it is an id (see ids.h).
[[nodiscard]] std::string name_of_this_machine();
// Returns a time, given in seconds since 1970, as a text for people: RFC 3339 in UTC.
[[nodiscard]] std::string time_text_of(std::int64_t seconds);
// Returns the present time as a text for people.
[[nodiscard]] std::string time_text();
// Returns the time `seconds` seconds ago, as a text for people.
[[nodiscard]] std::string time_text_before(std::int64_t seconds);

}  // namespace fleet
