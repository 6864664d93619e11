// Tells whether an upgrader takes requests and writes its status, as far as another process can
// tell.
#pragma once

#include <optional>
#include <string>

namespace upgraderctl {

enum class Hearing {
  listens,  // it takes requests
  stopped,  // stopped, for example by SIGSTOP: it takes requests when it continues
  full,     // it takes requests, but the disk of its control directory is full
  deaf,     // it runs, but has no FIFO
  gone,     // it has ended: its FIFO is missing, or nobody reads it
  unseen,   // its process cannot be seen, and its FIFO may not be opened
  unknown,  // its process exists, and its FIFO may not be opened
};

// The facts from which a Hearing follows. The FIFO must be looked at before the status is read,
// which names the process: an upgrader renames the status of an earlier one before it makes its
// FIFO.
struct Signs {
  int fifo_error = 0;                 // errno of opening the FIFO for writing; 0 if it has a reader
  std::optional<bool> process_there;  // absent if the status names no process
  bool process_stopped = false;
  bool disk_full = false;
};
[[nodiscard]] Hearing hearing_of(const Signs& signs);

[[nodiscard]] inline bool has_gone(Hearing hearing) {
  return hearing == Hearing::gone || hearing == Hearing::unseen;
}

// Returns true if status.json may be out of date.
[[nodiscard]] inline bool is_behind(Hearing hearing) {
  return hearing == Hearing::stopped || hearing == Hearing::full;
}

// Returns a clause about an upgrader that has not recorded its end, such as "is stopped: ...", to
// follow "it" or "the upgrader". Returns an empty text if there is nothing to say.
[[nodiscard]] std::string hearing_clause(Hearing hearing);

}  // namespace upgraderctl
