#include "fleet/common/log_line.h"

#include <cstdio>

#include "base/shown.h"

namespace fleet {

std::string log_text(std::string_view text) {
  return upgraderctl::cut(upgraderctl::shown(text.substr(0, log_columns_max + 1)), log_columns_max);
}

void log_line(std::string_view program, std::string_view text) {
  const std::string line = std::string(program) + ": " + log_text(text) + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace fleet
