// Assertions that stay on in every build. If one fails, the upgrader has a fault: it aborts, and
// init starts it again, which is better than acting on an impossible state.
#pragma once

namespace upgrader {

// Writes the place of the failed check to standard error (the source shows the condition), and
// aborts.
[[noreturn]] void check_failed(const char* file, int line);

}  // namespace upgrader

#define UPGRADER_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::upgrader::check_failed(__FILE__, __LINE__))
