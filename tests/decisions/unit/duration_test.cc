// Tests how durations and options are parsed, in all programs that accept them. See upgrader(8).
#include "base/duration.h"

#include <catch2/catch.hpp>

#include "base/argument.h"

namespace duration_test {

using namespace std::chrono_literals;
using namespace upgrader;

TEST_CASE("a duration is a whole number with a unit, or 0") {
  CHECK(parse_duration("0") == 0ms);
  CHECK(parse_duration("10ms") == 10ms);
  CHECK(parse_duration("3s") == 3s);
  CHECK(parse_duration("2m") == 2min);
  CHECK(parse_duration("24h") == 24h);
  for (const char* wrong : {"", "1", "s", "1.5s", "-1s", "+5s", "25h", "86400001ms", "1 s", "1d",
                            "1sx", "99999999999999999999s"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong));
  }
}

TEST_CASE("an option is a name, or a name and the value behind its first =") {
  const Argument plain = take_apart("--relink");
  const Argument with_value = take_apart("--env=A=B");
  const Argument empty = take_apart("--lock=");

  CHECK(plain.name == "--relink");
  CHECK_FALSE(plain.value);
  CHECK(with_value.name == "--env");
  CHECK(with_value.value == "A=B");
  CHECK(empty.value == "");
  CHECK(complaint_about(with_value, "is wrong") == "--env=A=B: is wrong");
}

TEST_CASE("an option is given where it stands before the end, by its name alone") {
  const char* const argv[] = {"program", "--trial=5s", "--trial", nullptr};

  CHECK(is_given("--trial", argv, 2));
  CHECK_FALSE(is_given("--trial", argv, 1));
  CHECK_FALSE(is_given("--tri", argv, 3));
  CHECK_FALSE(is_given("program", argv, 3));
}

}  // namespace duration_test
