#include "tools/upgraderctl/shell/terminal.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/shown.h"
#include "base/terminal_size.h"

namespace upgraderctl {

Terminal::Terminal() {
  const char* const kind = std::getenv("TERM");
  repaints_ = ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
              std::string_view(kind) != "dumb";
}

std::size_t Terminal::columns() const {
  return upgrader::terminal_size(STDOUT_FILENO).columns;
}

void Terminal::line(std::string_view text) {
  wipe();
  bytes(std::string(text) + "\n");
}

void Terminal::bytes(std::string_view text) {
  if (!is_broken()) put(STDOUT_FILENO, text);
}

void Terminal::complain(std::string_view text) {
  wipe();
  put(STDERR_FILENO, "upgraderctl: " + std::string(text) + "\n");
}

void Terminal::paint(const std::vector<std::string>& lines) {
  if (!repaints_) return;
  // Leave the last column and the last row free, because writing there may scroll the terminal.
  const upgrader::TerminalSize size = upgrader::terminal_size(STDOUT_FILENO);
  const std::size_t width = std::max<std::size_t>(size.columns, 2) - 1;
  const std::size_t count = std::min(lines.size(), std::max<std::size_t>(size.rows, 2) - 1);
  std::string text = painted_ == 0 ? "" : "\x1b[" + std::to_string(painted_) + "A\r";
  for (std::size_t i = 0; i < count; ++i)
    text += cut(lines[i], width) + "\x1b[K\n";
  painted_ = count;
  bytes(text + "\x1b[J");
}

void Terminal::leave() {
  painted_ = 0;
}

void Terminal::wipe() {
  if (painted_ != 0) bytes("\x1b[" + std::to_string(painted_) + "A\r\x1b[J");
  painted_ = 0;
}

void Terminal::put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd poll{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&poll, 1, -1);
    } else if (errno != EINTR) {
      if (fd == STDOUT_FILENO) error_number_ = errno;
      return;
    }
  }
}

}  // namespace upgraderctl
