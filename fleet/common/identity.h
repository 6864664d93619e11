// The names of this process and its machine: for the records, and never for a decision but that two
// machines do not share a name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

// Another for each process.
[[nodiscard]] std::string new_instance_id();
// Another after each boot, as the first line of that file has it.
[[nodiscard]] std::string boot_id(const std::string& file);
// Tells this machine from others, and does not show the machine id, which is nobody else's
// business. An empty text if there is none.
[[nodiscard]] std::string machine_id(const std::string& file);
// os, arch, kernel, host.
[[nodiscard]] std::map<std::string, std::string> facts_of_this_machine();
// A time, seconds since 1970, as people read it, RFC 3339 in UTC.
[[nodiscard]] std::string time_text_of(std::int64_t seconds);
// The present time.
[[nodiscard]] std::string time_text();
// The same, so many seconds ago.
[[nodiscard]] std::string time_text_before(std::int64_t seconds);

}  // namespace fleet
