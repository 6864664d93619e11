// Tests the text in which the sample agent saves its position in the log. The agent must be able to
// read a position that it has written, and must refuse a position that is damaged or has a newer
// format.
#include <catch2/catch.hpp>

#include "sample-agent/file.h"
#include "sample-agent/position.h"
#include "tests/support/temporary_directory.h"

namespace sample_position_test {

using namespace sample_agent;

namespace {

const Position some_position{.input = {.device = 2049, .inode = 77},
                             .offset = 1'234,
                             .next = 18'446'744'073'709'551'615U,
                             .output_size = 99,
                             .mark = 5};

Position without_mark(Position position) {
  position.mark.reset();
  return position;
}

}  // namespace

TEST_CASE("a position that was written is read again") {
  const unsigned format = GENERATE(1U, 2U);

  const auto found = decode_position(encode_position(some_position, format), 2);

  REQUIRE(found);
  CHECK(found.value().format == format);
  CHECK(found.value().position == (format == 1 ? without_mark(some_position) : some_position));
}

TEST_CASE("the format of a position is its first line, and the old one has no mark") {
  CHECK(encode_position(some_position, 1) ==
        "sample-agent position 1\n"
        "input 2049 77 1234\n"
        "next 18446744073709551615\n"
        "output 99\n");
  CHECK(encode_position(some_position, 2) ==
        "sample-agent position 2\n"
        "input 2049 77 1234\n"
        "next 18446744073709551615\n"
        "output 99\n"
        "mark 5\n");
}

TEST_CASE("a position of a newer format than this version knows is refused by its number") {
  const auto found = decode_position(encode_position(some_position, 2), 1);

  REQUIRE_FALSE(found);
  CHECK(found.reason() == "the position has format 2, this version knows formats up to 1");
}

TEST_CASE("no beginning of a position is taken for a position") {
  const std::string whole = encode_position(some_position, 2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(whole.substr(0, size));
    CHECK_FALSE(decode_position(whole.substr(0, size), 2));
  }
}

TEST_CASE("a damaged position is refused") {
  const std::string good = encode_position(some_position, 1);
  for (const char* wrong :
       {"sample-agent position 0\ninput 1 2 3\nnext 1\noutput 2\n", "sample-agent position 1\n",
        "sample-agent position x\ninput 1 2 3\nnext 1\noutput 2\n",
        "sample-agent position 1\ninput 1 2\nnext 1\noutput 2\n",
        "sample-agent position 1\ninput 1 2 3 4\nnext 1\noutput 2\n",
        "sample-agent position 1\ninput 1 2 -3\nnext 1\noutput 2\n",
        "sample-agent position 1\ninput 1 2 3\nnext 18446744073709551616\noutput 2\n",
        "sample-agent position 1\nnext 1\ninput 1 2 3\noutput 2\n"}) {
    INFO(wrong);
    const auto found = decode_position(wrong, 2);
    REQUIRE_FALSE(found);
    CHECK(found.reason() == "the position is damaged");
  }
  CHECK_FALSE(decode_position(good + "more\n", 2));
  CHECK(decode_position(good, 2));
}

TEST_CASE("a durable file that does not exist is no failure, and what replaces it is read") {
  const TemporaryDirectory directory;
  const DurableFile file(directory.path(), "position");

  CHECK(file.read().value() == std::nullopt);
  CHECK(file.replace("one"));
  CHECK(file.replace("two"));

  CHECK(file.read().value() == "two");
  CHECK_FALSE(std::filesystem::exists(directory / "position.tmp"));
}

TEST_CASE("what cannot be read or replaced is told with its path") {
  const TemporaryDirectory directory;
  directory.write("plain", "");
  std::filesystem::create_directory(directory / "position");

  const auto read = DurableFile(directory.path(), "position").read();
  REQUIRE_FALSE(read);
  CHECK(read.reason() == "cannot read " + (directory / "position") + ": Is a directory");
  const auto replaced = DurableFile(directory / "plain", "position").replace("one");
  REQUIRE_FALSE(replaced);
  CHECK(replaced.reason().starts_with("cannot open "));
}

}  // namespace sample_position_test
