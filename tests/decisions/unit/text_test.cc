// Tests the functions for texts: UTF-8, escaping and shortening, which the JSON archives use, and
// form(), which inserts values into a text with placeholders.
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/codec.h"
#include "base/escape.h"
#include "base/form.h"
#include "base/utf8.h"
#include "upgrader/core/words.h"

namespace text_test {

using namespace agent_protocol;

// ---- UTF-8, escaping and shortening

namespace {

constexpr unsigned last_code_point = 0x10ffff;

char byte(unsigned value) {
  return static_cast<char>(static_cast<unsigned char>(value));
}

// Encodes a number in `bytes` bytes with the bit patterns of UTF-8. The number need not be the code
// of a character, and may even fit into fewer bytes.
std::string patterned(unsigned code, unsigned bytes) {
  if (bytes == 1) return {byte(code)};
  std::string text;
  for (unsigned i = 1; i < bytes; ++i)
    text.insert(0, 1, byte(0x80 | ((code >> 6 * (i - 1)) & 0x3f)));
  const unsigned lead = 0xff00U >> bytes;
  return byte(lead | (code >> 6 * (bytes - 1))) + text;
}

unsigned shortest(unsigned code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

}  // namespace

TEST_CASE("every code point is one character of UTF-8, but surrogates, in its shortest form only") {
  std::size_t wrong = 0;
  for (unsigned code = 0; code <= last_code_point + 0x1000; ++code) {
    const bool is_character = (code < 0xd800 || code > 0xdfff) && code <= last_code_point;
    const std::string text = patterned(code, shortest(code));
    const std::size_t expected = is_character ? text.size() : 0;
    if (utf8_character_bytes(text + "x") != expected) ++wrong;
    if (is_utf8(text) != is_character) ++wrong;
    if (code < 0x80 && is_utf8(patterned(code, 2))) ++wrong;
    if (code < 0x800 && is_utf8(patterned(code, 3))) ++wrong;
    if (code < 0x10000 && is_utf8(patterned(code, 4))) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a character is written in so many bytes, and no byte behind them is touched") {
  const auto [character, bytes] =
      GENERATE(table<int, std::size_t>({{'A', 1}, {0xe9, 2}, {0x20ac, 3}, {0x10ffff, 4}}));
  std::string to(8, '#');

  CHECK(write_utf8(character, to.data()) == bytes);

  CHECK(to.substr(0, bytes) ==
        patterned(static_cast<unsigned>(character), static_cast<unsigned>(bytes)));
  CHECK(to.substr(bytes) == std::string(8 - bytes, '#'));
}

TEST_CASE("a character that is cut off, or has another byte within, is no UTF-8") {
  const std::string character = GENERATE("\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80");
  for (std::size_t at = 1; at < character.size(); ++at) {
    CHECK_FALSE(is_utf8(character.substr(0, at)));
    CHECK(utf8_character_bytes(character.substr(0, at)) == 0);
    for (const char other : {'x', '\0', '\xc3', '\xff'}) {
      std::string broken = character;
      broken[at] = other;
      CHECK_FALSE(is_utf8(broken));
      CHECK(utf8_character_bytes(broken) == 0);
    }
  }
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("\xff"));
  CHECK_FALSE(is_utf8("\xf5\x80\x80\x80"));
  CHECK(is_utf8(""));
}

TEST_CASE("only the quote, the backslash and controls are escaped, in the shortest form") {
  for (unsigned code = 0; code < 0x100; ++code) {
    const std::string text(1, byte(code));
    std::string expected = text;
    if (code < 0x20) {
      const std::string hex = "0123456789abcdef";
      expected = std::string("\\u00") + hex[code / 16] + hex[code % 16];
    }
    if (code == '\b') expected = "\\b";
    if (code == '\t') expected = "\\t";
    if (code == '\n') expected = "\\n";
    if (code == '\f') expected = "\\f";
    if (code == '\r') expected = "\\r";
    if (code == '"') expected = "\\\"";
    if (code == '\\') expected = "\\\\";

    std::string quoted;
    append_quoted(quoted, text);

    CHECK(quoted == '"' + expected + '"');
    CHECK(escaped_bytes(text) == expected.size());
  }
}

TEST_CASE("a text that fits is left as it is") {
  CHECK(fit_text("", 0) == "");
  CHECK(fit_text("abc", 3) == "abc");
  CHECK(fit_text("a\xc3\xa9\n", 4) == "a\xc3\xa9\n");
}

TEST_CASE("a text that is too long is cut between characters") {
  CHECK(fit_text("abc", 2) == "ab");
  CHECK(fit_text("a\xc3\xa9", 2) == "a");
  CHECK(fit_text("\xf0\x9f\x98\x80x", 3) == "");
  CHECK(fit_text("\xf0\x9f\x98\x80x", 4) == "\xf0\x9f\x98\x80");
}

TEST_CASE("bytes that no text may hold are replaced, and the replacement counts") {
  using namespace std::string_literals;
  CHECK(fit_text("a\xff\0b"s, 100) ==
        "a\xef\xbf\xbd\xef\xbf\xbd"
        "b");
  CHECK(fit_text("\xff\xff", 5) == "\xef\xbf\xbd");
  CHECK(fit_text("\xc3", 100) == "\xef\xbf\xbd");
}

TEST_CASE("a fitted text can always be sent") {
  std::string bytes;
  for (unsigned i = 0; i < 5'000; ++i)
    bytes += byte(i * 7 + i / 13);

  const std::string fitted = fit_text(bytes, reason_bytes_max);

  CHECK(fitted.size() > reason_bytes_max - 4);
  CHECK(encode(UpgraderMessage(Error{.about = {}, .reason = fitted})));
}

// ---- form()

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

}  // namespace text_test
