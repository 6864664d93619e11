// A place in a test, for the message of a failure there. (std::source_location is not to be had
// from every compiler that this is built with.)
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
