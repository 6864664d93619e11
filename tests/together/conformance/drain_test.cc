// Tests agent-conformance with an agent that writes without a pause: it must keep its time limits
// even then.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tools/agent-conformance/agent_process.h"

namespace drain_test {

using namespace conformance;

TEST_CASE("one turn of the loop reads a limited amount of an endless output") {
  const int endless = ::open("/dev/zero", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(endless >= 0);
  int pieces = 0;

  const bool over = drain(endless, [&](std::string_view) {
    if (++pieces > 1'000) FAIL("the turn does not end");
  });

  CHECK_FALSE(over);
  CHECK(pieces == reads_a_turn_max);
  ::close(endless);
}

TEST_CASE("a pipe is read to its end, and the end is reported after the last byte") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(::write(ends[1], "abc", 3) == 3);
  std::string read;
  const auto take = [&](std::string_view bytes) { read += bytes; };

  CHECK_FALSE(drain(ends[0], take));
  CHECK(read == "abc");
  ::close(ends[1]);
  CHECK(drain(ends[0], take));
  ::close(ends[0]);
}

}  // namespace drain_test
