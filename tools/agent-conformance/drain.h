// Reads what an agent has written, but only as much as one turn of the event loop may take.
#pragma once

#include <functional>
#include <string_view>

namespace conformance {

// The most reads in one turn, enough for a full pipe. If an agent writes faster than we read, the
// rest is read in the loop's next turn, so that other work is not delayed.
inline constexpr int reads_a_turn_max = 16;

// Reads the available bytes, in at most reads_a_turn_max reads, and passes them to `take`. Returns
// true at the end of the input. The descriptor must be non-blocking.
[[nodiscard]] bool drain(int fd, const std::function<void(std::string_view)>& take);

}  // namespace conformance
