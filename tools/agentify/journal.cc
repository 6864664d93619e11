#include "tools/agentify/journal.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/no_wait.h"
#include "base/shown.h"
#include "base/utf8.h"

namespace agentify {

// The longest line of the log. A pipe accepts up to PIPE_BUF (4,096) bytes atomically: all or none.
constexpr std::size_t line_bytes_max = 4096;

void log_line(std::string_view text) {
  const std::string escaped = upgraderctl::shown(text);
  show("agentify: " + agent_protocol::fit_text(escaped, line_bytes_max / 2) + "\n");
}

void show(std::string_view bytes) {
  struct stat status {};
  if (::fstat(STDERR_FILENO, &status) != 0) return;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, line_bytes_max);
    const std::size_t written =
        upgrader::write_without_waiting(STDERR_FILENO, status.st_mode, part);
    if (written < part.size()) return;
    bytes.remove_prefix(written);
  }
}

void survive_a_broken_log() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTOU})
    ::sigaction(signal, &ignored, nullptr);
}

}  // namespace agentify
