// Tests how texts from other programs are made safe for a terminal.
#include "base/shown.h"

#include <catch2/catch.hpp>

namespace shown_test {

using namespace upgraderctl;

TEST_CASE("nothing in a shown text commands a terminal") {
  CHECK(shown("plain \xc3\xa9 \xe6\x97\xa5") == "plain \xc3\xa9 \xe6\x97\xa5");
  CHECK(shown("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(shown("a\nb\tc\rd\x7f") == "a\\nb\\tc\\rd\\x7f");
  CHECK(shown("\xc2\x9b") == "\\u{9b}");
  CHECK(shown("\xe2\x80\xae") == "\\u{202e}");
  CHECK(shown("\xff\xfe") == "\\xff\\xfe");
  CHECK(shown(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("columns are those of a terminal") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xc3\xa9") == 1);
  CHECK(columns_of("e\xcc\x81") == 1);
  CHECK(columns_of("\xe6\x97\xa5") == 2);
  CHECK(columns_of("\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("a text is cut to columns, and says so") {
  CHECK(cut("abcdef", 6) == "abcdef");
  CHECK(cut("abcdefg", 6) == "abc...");
  CHECK(cut("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 6) == "\xe6\x97\xa5...");
  CHECK(cut("abcdefg", 2) == "..");
  CHECK(cut("", 0).empty());
}

TEST_CASE("a text is padded to columns") {
  CHECK(padded("ab", 4) == "ab  ");
  CHECK(padded("\xe6\x97\xa5", 4) == "\xe6\x97\xa5  ");
  CHECK(padded("abcde", 4) == "abcde");
}

}  // namespace shown_test
