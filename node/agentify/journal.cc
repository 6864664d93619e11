#include "node/agentify/journal.h"

#include <poll.h>
#include <unistd.h>

#include <string>

namespace agentify {

// So much goes into a pipe whole (PIPE_BUF), if it takes anything.
constexpr std::size_t line_bytes_max = 4096;

void log_line(std::string_view text) {
  std::string line = "agentify: ";
  for (const char byte : text.substr(0, line_bytes_max / 2))
    line += static_cast<unsigned char>(byte) < ' ' || byte == '\x7f' ? '?' : byte;
  line += '\n';
  pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace agentify
