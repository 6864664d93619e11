// Measures how much memory and processor time a process and its descendants have used so far.
#pragma once

#include <cstdint>
#include <optional>

namespace fleet {

struct ProcessUse {
  std::optional<std::int64_t> peak_kib = {};  // the peak memory of each process, added up
  std::optional<std::int64_t> cpu_ms = {};
};

// Reads /proc. A value is absent if the process has gone or /proc does not show it. Reads at most
// 64 processes. Of children that have ended, only the processor time is known.
[[nodiscard]] ProcessUse use_of_process(std::int64_t pid);

}  // namespace fleet
