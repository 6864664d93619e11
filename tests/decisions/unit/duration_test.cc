// Tests how durations are parsed: those in the upgrader's options, and the longer ones that tools
// accept.
#include "base/duration.h"

#include <catch2/catch.hpp>

namespace duration_test {

using namespace upgrader;
using namespace std::chrono_literals;

TEST_CASE("a length is a number of at most nine digits with its unit, days included") {
  CHECK(parse_length("0") == Duration(0));
  CHECK(parse_length("15ms") == Duration(15));
  CHECK(parse_length("2d") == Duration(48h));
  CHECK(parse_length("999999999ms") == Duration(999'999'999));
  CHECK_FALSE(parse_length("1000000000ms"));
  CHECK_FALSE(parse_length("99999999999999999999s"));
  CHECK_FALSE(parse_length("1"));
  CHECK_FALSE(parse_length("1w"));
  CHECK_FALSE(parse_length("d"));
}

TEST_CASE("a duration of an option has no days, and an end") {
  CHECK(parse_duration("90m") == Duration(90min));
  CHECK_FALSE(parse_duration("1d"));
  CHECK_FALSE(parse_duration("999999999h"));
}

}  // namespace duration_test
