// Writes to a descriptor without setting O_NONBLOCK on it, since other processes share that flag.
// Never blocks, even if another process fills the pipe at the same moment.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace upgrader {

// Returns how many of the bytes (at most log_line_bytes_max) were written: 0 if the write would
// block, and after any error. `mode` is the file type from fstat(). SIGPIPE must be ignored.
[[nodiscard]] std::size_t write_without_waiting(int descriptor, mode_t mode,
                                                std::string_view bytes);

}  // namespace upgrader
