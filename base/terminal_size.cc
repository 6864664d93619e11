#include "base/terminal_size.h"

#include <sys/ioctl.h>

namespace upgrader {

TerminalSize terminal_size(int fd) {
  TerminalSize size;
  winsize reported{};
  if (::ioctl(fd, TIOCGWINSZ, &reported) != 0) return size;
  if (reported.ws_col != 0) size.columns = reported.ws_col;
  if (reported.ws_row != 0) size.rows = reported.ws_row;
  return size;
}

}  // namespace upgrader
