// Asserts what must be, in every build: a broken rule of our own ends the upgrader, and init starts
// it anew, rather than let it act on a state that cannot be.
#pragma once

namespace upgrader {

// Writes to standard error where the broken rule stands (the source has its words), and aborts.
[[noreturn]] void check_failed(const char* file, int line);

}  // namespace upgrader

#define UPGRADER_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::upgrader::check_failed(__FILE__, __LINE__))
