// The control directory of an upgrader at one instant, and the outcome of writing a line there:
// plain data.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// The control directory at one instant.
struct Look {
  std::optional<Status> status;
  std::optional<Status> previous;
  bool directory_there = true;
  Hearing hearing = Hearing::listens;
  int error_number = 0;  // the errno of reading the status, if there is no status
  std::string trouble;   // the reason why there is no status
};

// The outcome of writing a line to the FIFO. `full`: the FIFO has no room now; `gone`: nobody reads
// the FIFO any more.
enum class WriteOutcome { written, full, gone };
}  // namespace upgraderctl
