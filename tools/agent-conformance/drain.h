// Reads what an agent has written, for as long as one turn of the event loop may take.
#pragma once

#include <functional>
#include <string_view>

namespace conformance {

// A full pipe's worth. An agent that writes faster than we read has to leave us time for everything
// else: the rest is read in the loop's next turn.
inline constexpr int reads_a_turn_max = 16;

// Gives what is there, at most so many reads of it, to `take`. True at the end of the input. The
// descriptor does not block.
[[nodiscard]] bool drain(int fd, const std::function<void(std::string_view)>& take);

}  // namespace conformance
