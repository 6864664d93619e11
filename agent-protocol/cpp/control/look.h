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

// Of a line that was to be written to the FIFO. `full`: not now; `gone`: nobody reads it any more.
enum class WriteOutcome { written, full, gone };
}  // namespace upgraderctl
