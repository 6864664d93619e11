#include "tools/notify-watchdog/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/no_wait.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {

void log_line(const std::string& text) {
  struct stat stream {};
  if (::fstat(STDERR_FILENO, &stream) != 0) return;
  static_cast<void>(upgrader::write_without_waiting(STDERR_FILENO, stream.st_mode,
                                                    "notify-watchdog: {}\n"_with(text)));
}

}  // namespace notify_watchdog
