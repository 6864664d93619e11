// How a process ended, as plain data and in words. process.h waits for processes and makes this
// data.
#pragma once

#include <string>

#include "base/form.h"

namespace upgrader {

struct Ending {
  enum class How { exited, signalled, unknown };

  How how = How::unknown;
  int value = 0;  // the exit status or the signal's number; 0 if neither is known

  bool operator==(const Ending&) const = default;
};

// Returns the name of a signal, such as "SIGQUIT"; null if the signal has no name.
[[nodiscard]] const char* known_signal(int number);

// Returns how the process ended: "exited with status 3", "was killed by signal 11 (SIGSEGV)" or
// "ended in an unknown way".
[[nodiscard]] std::string in_words(const Ending& ending);

// Returns the exit status of an upgrader that ends because its agent has ended in this way: the
// agent's own status, 128 + the signal's number, or 125 if the ending is unknown.
[[nodiscard]] int exit_status_of(const Ending& ending);

}  // namespace upgrader
