// Writes to a stream whose flags others share, and never waits, whatever they write meanwhile.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace upgrader {

// How many of the bytes (at most log_line_bytes_max) it has taken; none where it would have to
// wait, and on every error. `mode` is the stream's as fstat() tells it. SIGPIPE must be ignored.
[[nodiscard]] std::size_t write_without_waiting(int descriptor, mode_t mode,
                                                std::string_view bytes);

}  // namespace upgrader
