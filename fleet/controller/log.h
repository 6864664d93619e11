// Writes a line to the log of fleet-controller.
#pragma once

#include <string>

#include "fleet/common/log_line.h"

namespace fleet {

inline void log(const std::string& line) {
  log_line("fleet-controller", line);
}

}  // namespace fleet
