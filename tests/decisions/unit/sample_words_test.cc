// Tests how the sample agent reads the values in its small files, and the texts that it sends to
// its upgrader.
#include <catch2/catch.hpp>
#include <string>

#include "sample-agent/words.h"

namespace sample_words_test {

using namespace sample_agent;

TEST_CASE("a text that an upgrader would refuse is told in short") {
  CHECK(in_short("cannot read /a", 20) == "cannot read /a");
  CHECK(in_short("cannot read /\xff\n", 20) == "cannot read /??");
  CHECK(in_short("12345", 5) == "12345");
  CHECK(in_short("123456", 5) == "12...");
  CHECK(in_short("", 5) == "");
}

}  // namespace sample_words_test
