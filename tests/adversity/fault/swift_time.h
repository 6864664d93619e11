// The clock of a traced process. Its run does not depend on how fast the machine is: it does not
// wait in real time for its own deadlines, such as the tenth of a second between two writings of
// status.json, or the second in which init gets at most ten messages. Every run then makes the same
// calls.
//
// The process asks the kernel for the time, since the clock without a system call (the vDSO) is
// hidden from it at its start, and the tracer answers. The clock stands still, except that each
// wait adds half a second. A wait for a tenth of a second or less is over at once. A longer wait
// ends by an event, or is broken off if no other process will act before its end; then its whole
// time is added.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "tests/adversity/fault/calls.h"

namespace fault {

class SwiftTime {
 public:
  // Must be called when the process has just been executed.
  static void hide_other_clocks(pid_t pid);

  [[nodiscard]] static bool is_question(const RawCall& call);  // asks for the time
  // The tracer calls enter() at the entry of a system call, and leave() at its return.
  void enter(const RawCall& call);
  // Breaks off the wait that has just begun, if it would end within `most_ms`. Returns whether it
  // did.
  bool break_off(const RawCall& call, int most_ms);
  void leave(const RawCall& call);

 private:
  std::int64_t started_ns_ = 0;  // the kernel's time at the first question
  std::int64_t waited_ms_ = 0;
  bool changed_ = false;  // the length of the wait was changed
  bool broken_off_ = false;
};

}  // namespace fault
