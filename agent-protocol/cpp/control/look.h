// The state of an upgrader's control directory at one moment, and the result of writing a line to
// its FIFO, as plain data.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// The state of an upgrader's control directory at one moment.
struct Look {
  std::optional<Status> status;
  std::optional<Status> previous;
  bool directory_there = true;
  Hearing hearing = Hearing::listens;
  int error_number = 0;  // the errno of reading status.json, if that failed
  std::string trouble;   // why status.json could not be read, if that failed
};

// The result of writing a line to the FIFO. `full`: the FIFO has no room now. `gone`: nobody reads
// the FIFO any more.
enum class WriteOutcome { written, full, gone };
}  // namespace upgraderctl
