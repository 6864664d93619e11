// Tests how whole numbers are parsed, as in options, in the environment, in the lock's file and in
// the file of attempts.
#include "base/number.h"

#include <catch2/catch.hpp>

#include <string>

namespace number_test {

namespace {

using namespace upgrader;

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

}  // namespace

}  // namespace number_test
