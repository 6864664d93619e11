// Tests form(), which inserts values into a text with placeholders.
#include "base/form.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "upgrader/core/words.h"

namespace form_test {

namespace {

using agent_protocol::operator""_with;

TEST_CASE("each {} of a form is replaced by the next value") {
  const std::string text = "u7";
  const char* const c_text = "refused";

  CHECK("upgrade {} {}: {}"_with(text, c_text, std::string_view("busy now", 4)) ==
        "upgrade u7 refused: busy");
  CHECK("{}{}"_with("", "x") == "x");
  CHECK("no value"_with() == "no value");
  CHECK(""_with().empty());
}

TEST_CASE("a whole number of any type is written in digits") {
  CHECK("{} {} {}"_with(0, -7L, std::numeric_limits<std::int64_t>::min()) ==
        "0 -7 -9223372036854775808");
  CHECK("{}"_with(std::size_t{4711}) == "4711");
}

TEST_CASE("a {} in a value is never taken for a place in the form") {
  CHECK("{}"_with(std::string("{} \x01\x02 {}")) == "{} \x01\x02 {}");
  CHECK("{\n\t}"_with() == "{\n\t}");
}

TEST_CASE("a value that holds a zero is written whole") {
  CHECK("<{}>"_with(std::string("a\0b", 3)) == std::string("<a\0b>", 5));
}

TEST_CASE("the upgrader's own values are written as people are told of them") {
  upgrader::Agent agent;
  agent.generation = 2;
  agent.version = "1.1";
  const upgrader::Ending ending{upgrader::Ending::How::exited, 3};

  CHECK("{} {}"_with(agent, ending) == "generation 2 (version 1.1) exited with status 3");
  CHECK("{}"_with(upgrader::SystemError{ENOENT}) == "No such file or directory (ENOENT)");
}

}  // namespace

}  // namespace form_test
