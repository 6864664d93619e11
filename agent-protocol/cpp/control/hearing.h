// Whether an upgrader takes requests and writes what it does, as far as can be told from outside.
#pragma once

#include <optional>
#include <string>

namespace upgraderctl {

enum class Hearing {
  listens,  // it takes requests
  stopped,  // by SIGSTOP for example: it takes them when it goes on
  full,     // it takes them, but the disk of its control directory is full
  deaf,     // it runs, but has no FIFO
  gone,     // it has ended: its FIFO is missing, or nobody reads it
  unseen,   // its process is not to be seen, and its FIFO may not be asked
  unknown,  // its process is there, and its FIFO may not be asked
};

// The signs of a Hearing. The FIFO is looked at before the status that names the process is read:
// an upgrader puts another's status aside before it makes its FIFO.
struct Signs {
  int fifo_error = 0;                 // errno of opening the FIFO for writing; 0: it has a reader
  std::optional<bool> process_there;  // where the status names one
  bool process_stopped = false;
  bool disk_full = false;
};
[[nodiscard]] Hearing hearing_of(const Signs& signs);

[[nodiscard]] inline bool has_gone(Hearing hearing) {
  return hearing == Hearing::gone || hearing == Hearing::unseen;
}

// Whether status.json may be old.
[[nodiscard]] inline bool is_behind(Hearing hearing) {
  return hearing == Hearing::stopped || hearing == Hearing::full;
}

// A clause about an upgrader that has not written its end, to stand after "it" or "the upgrader":
// "is stopped: ...". Empty if there is nothing to say.
[[nodiscard]] std::string hearing_clause(Hearing hearing);

}  // namespace upgraderctl
