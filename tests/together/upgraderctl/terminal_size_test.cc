// Tests which size a terminal has for the programs that draw on it.
#include "base/terminal_size.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <catch2/catch.hpp>

#include "base/owned_fd.h"

namespace terminal_size_test {

using upgrader::OwnedFd;
using upgrader::terminal_size;
using upgrader::TerminalSize;

namespace {

// Opens a terminal, sets its size to these numbers, and returns what terminal_size() finds.
TerminalSize reported(unsigned short columns, unsigned short rows) {
  const OwnedFd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(terminal);
  winsize size{};
  size.ws_col = columns;
  size.ws_row = rows;
  REQUIRE(::ioctl(terminal.get(), TIOCSWINSZ, &size) == 0);
  return terminal_size(terminal.get());
}

}  // namespace

TEST_CASE("a terminal has the size that it reports") {
  const TerminalSize size = reported(132, 50);

  CHECK(size.columns == 132);
  CHECK(size.rows == 50);
}

TEST_CASE("a terminal that reports no columns or no rows has the usual number of them") {
  CHECK(reported(0, 50).columns == 80);
  CHECK(reported(0, 50).rows == 50);
  CHECK(reported(132, 0).columns == 132);
  CHECK(reported(132, 0).rows == 24);
}

TEST_CASE("a file that is no terminal has the usual size") {
  const OwnedFd file(::open("/dev/null", O_RDWR | O_CLOEXEC));

  CHECK(terminal_size(file.get()).columns == 80);
  CHECK(terminal_size(file.get()).rows == 24);
}

}  // namespace terminal_size_test
