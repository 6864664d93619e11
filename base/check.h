// Assertions that are checked in every build. A failed check means a bug in this program. The
// program then aborts and init starts it again, which is better than acting on an impossible state.
#pragma once

namespace upgrader {

// Writes file and line of the failed check to standard error, and aborts. The text of the condition
// is not written, since the source has it at that line.
[[noreturn]] void check_failed(const char* file, int line);

}  // namespace upgrader

#define UPGRADER_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::upgrader::check_failed(__FILE__, __LINE__))
