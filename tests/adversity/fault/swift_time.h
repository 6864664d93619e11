// The time of a traced process that is not to wait in earnest for deadlines of its own, such as the
// tenth of a second between two writings of status.json, or the second in which init hears ten
// times at most: when one of these passes does not depend on how quick the machine is, and every
// run makes the same calls.
//
// Its clock is asked of the kernel, where it is traced, since it is told of no other at its start;
// and it stands still, but that half a second has gone by each time that it waits. If it would
// wait for a tenth of a second or less it does not wait. A longer wait ends by an event, or is
// broken off when nobody else will do anything before its end; then that much has gone by.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "tests/adversity/fault/calls.h"

namespace fault {

class SwiftTime {
 public:
  // It has just been executed.
  static void hide_other_clocks(pid_t pid);

  [[nodiscard]] static bool is_question(const RawCall& call);  // about the time
  // At the entry and at the return of a call.
  void enter(const RawCall& call);
  // Breaks off the wait that it has entered, if that is to end within `most_ms`.
  bool break_off(const RawCall& call, int most_ms);
  void leave(const RawCall& call);

 private:
  std::int64_t started_ns_ = 0;  // what the kernel's clock said first
  std::int64_t waited_ms_ = 0;
  bool changed_ = false;  // how long it waits
  bool broken_off_ = false;
};

}  // namespace fault
