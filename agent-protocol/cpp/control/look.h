// The control directory of an upgrader as it was at one instant, and what became of a line that was
// written there: plain data.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// The control directory, as it was at one instant.
struct Look {
  std::optional<Status> status;
  std::optional<Status> previous;
  bool directory_there = true;
  Hearing hearing = Hearing::listens;
  int error_number = 0;  // of reading the status, where there is none
  std::string trouble;   // why there is none
};

// The outcome of writing a line to the FIFO. `full`: the FIFO has no room now; `gone`: nobody reads
// the FIFO any more.
enum class WriteOutcome { written, full, gone };
}  // namespace upgraderctl
