// Functions that find out, as far as is possible from a different process, whether an upgrader
// takes requests and writes its status.
#pragma once

#include <optional>
#include <string>

namespace upgraderctl {

enum class Hearing {
  listens,  // the upgrader takes requests
  stopped,  // the upgrader is stopped, for example by SIGSTOP, until it is continued
  full,     // the upgrader takes requests, but its control directory's disk is full
  deaf,     // the upgrader runs, but has no FIFO
  gone,     // the upgrader has ended: its FIFO is missing, or nobody reads it
  // This user may not open the FIFO, and cannot see a process with the upgrader's pid.
  unseen,
  unknown,  // this user may not open the FIFO, and nothing shows that the upgrader has ended
};

// The facts from which hearing_of() finds out whether the upgrader takes requests. The caller must
// look at the FIFO before it reads the upgrader's pid from status.json. In this order, the FIFO of
// a new upgrader is never combined with the pid of an earlier one, because a new upgrader renames
// the old status.json before it makes its own FIFO.
struct Signs {
  int fifo_error = 0;  // errno of opening the FIFO for writing; 0 if some process reads the FIFO
  // Whether the upgrader's process exists; absent if no pid is known.
  std::optional<bool> process_there;
  bool process_stopped = false;
  bool disk_full = false;
};
[[nodiscard]] Hearing hearing_of(const Signs& signs);

[[nodiscard]] inline bool has_gone(Hearing hearing) {
  return hearing == Hearing::gone || hearing == Hearing::unseen;
}

// Returns true if status.json may be out of date: the upgrader cannot write it now.
[[nodiscard]] inline bool is_behind(Hearing hearing) {
  return hearing == Hearing::stopped || hearing == Hearing::full;
}

// Returns a clause such as "is stopped: ..." about an upgrader that has not recorded its end. The
// caller puts "it" or "the upgrader" before the clause. Returns an empty text if the upgrader takes
// requests, or if nothing is known.
[[nodiscard]] std::string hearing_clause(Hearing hearing);

}  // namespace upgraderctl
