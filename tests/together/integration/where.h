// A place in a test, for the message of a failure there. Some of the compilers that build this lack
// std::source_location.
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
