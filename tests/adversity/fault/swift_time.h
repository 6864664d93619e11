// A simulated clock for a traced process. It makes the process's run independent of the machine's
// speed. The process does not wait in real time for its own deadlines, such as the tenth of a
// second between two writings of status.json, or the second in which init gets at most ten
// messages. Every run then makes the same calls.
//
// At the start of the process, the clock that needs no system call (the vDSO) is hidden. So the
// process asks the kernel for the time, and the tracer answers. The clock stands still, except that
// each wait adds half a second. A wait for a tenth of a second or less is over at once. A longer
// wait ends by an event. If no other process will act before its end, the tracer breaks it off, and
// adds its whole time to the clock.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "tests/adversity/fault/calls.h"

namespace fault {

class SwiftTime {
 public:
  // Must be called right after the traced process has executed its program.
  static void hide_other_clocks(pid_t pid);

  // Returns whether the system call asks for the time.
  [[nodiscard]] static bool is_question(const RawCall& call);
  // Simulates the clock for one system call. The tracer must call enter() at the entry of every
  // system call, and leave() at its return.
  void enter(const RawCall& call);
  // Ends the wait that has just begun if it would last at most `most_ms` milliseconds, and returns
  // true. Otherwise returns false.
  bool break_off(const RawCall& call, int most_ms);
  void leave(const RawCall& call);

 private:
  std::int64_t started_ns_ = 0;  // the kernel's clock when the process first asked for the time
  std::int64_t waited_ms_ = 0;
  // True if the system call was given another time limit, which leave() must restore.
  bool changed_ = false;
  bool broken_off_ = false;
};

}  // namespace fault
