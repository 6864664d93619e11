// A line of a test's source, to be named in the message of a failure. Replaces
// std::source_location, which some of our compilers lack.
#pragma once

namespace integration {

struct Where {
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file;
  int line;
};

}  // namespace integration
