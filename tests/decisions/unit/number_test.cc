// Tests how whole numbers and durations are parsed. Whole numbers occur in options, in the
// environment, in the lock file and in the file of --attempts. Durations occur in the upgrader's
// options. Tools accept longer durations than the upgrader.
#include "base/number.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/duration.h"

namespace number_test {

using namespace upgrader;
using namespace std::chrono_literals;

// ---- whole numbers

TEST_CASE("a number is taken with all of its digits, and nothing else") {
  std::string_view text = "0047 8";

  CHECK(take_number(text) == 47);
  CHECK(text == " 8");
  CHECK_FALSE(take_number(text));
  CHECK(text == " 8");
}

TEST_CASE("a number that is too large is taken, and said to be") {
  std::string_view largest = "9223372036854775807 ";
  std::string_view larger = "9223372036854775808 ";
  std::string_view far_larger = "99999999999999999999 ";

  CHECK(take_number(largest) == number_max);
  CHECK(take_number(larger) == too_large);
  CHECK(take_number(far_larger) == too_large);
  CHECK(far_larger == " ");
  CHECK_FALSE(whole_number("1" + std::string(30, '0')));
}

TEST_CASE("a whole number has nothing before it, behind it, or above its limit") {
  CHECK(whole_number("999", 999) == 999);
  CHECK_FALSE(whole_number("1000", 999));
  CHECK(whole_number("9223372036854775807") == number_max);
  for (const char* const wrong : {"", "-0", "+1", " 1", "1 ", "1x", "9223372036854775808"}) {
    CAPTURE(wrong);
    CHECK_FALSE(whole_number(wrong));
  }
}

// ---- durations

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

}  // namespace number_test
