#include "upgrader/check.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace upgrader {

void check_failed(const char* condition, const char* file, int line) {
  const std::string place = std::string(file) + ":" + std::to_string(line);
  const std::string text = std::string("upgrader: error: a rule of its own is broken: ") +
                           condition + " (" + place + ")\n";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
  std::abort();
}

}  // namespace upgrader
