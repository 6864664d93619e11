// Tests how lines are parsed as JSON: which texts, including hostile texts, are accepted, and how
// much memory and time parsing takes.
#include "base/json_line.h"

#include <catch2/catch.hpp>
#include <string>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/message.h"
#include "tests/decisions/unit/counted_memory.h"

namespace json_line_test {

using namespace agent_protocol;

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

// Returns whether the codec accepts a `ready` that has an unknown member with this value.
bool is_taken(const std::string& value) {
  const Decoded<AgentMessage> decoded =
      decode_agent_message(R"({"type":"ready","x":)" + value + "}");
  return decoded == Decoded<AgentMessage>(AgentMessage(Ready{}));
}

bool is_stray(const std::string& line) {
  return std::holds_alternative<Stray>(decode_agent_message(line));
}

constexpr std::size_t line_max = line_bytes_max - 1;  // the longest line, without its newline

}  // namespace

TEST_CASE("an unknown member may hold any JSON") {
  const std::string value = GENERATE(
      "null", "true", "false", "0", "-0", "-1", "1.5", "1e5", "1E+5", "1e-5", "0.0e0", "1e999",
      "-1e-999", "1E999", "1e+999", "0e999", "99999999999999999999e+5", "99999999999999999999",
      "123456789012345678", "1234567890123456789", "-12345678901234567890.5e12345678901234567890",
      "\"\"", R"("\"\\\/\b\f\n\r\t\u00e9")", R"("\ud800")", R"("\ud80A")", R"("\ud83dxudc00")",
      R"("\ud83d\ndc00")", R"("\nd83d\udc00")", R"(["\"",1e999])", R"(["\ud83d\ude00",1e999])",
      R"("\udfff\ud800")", R"("\u0000")", "\"\x7f\"", "[]", "{}", "[ ]", "{ }",
      "[1,[2,{\"a\":[]}]]", R"({"a":1,"a":2})", R"({"":"","\u0000":""})", "\t[\r\n1 , 2 ]");
  CAPTURE(value);

  CHECK(is_taken(value));
}

TEST_CASE("an unknown member that holds no JSON makes the line stray") {
  const std::string value = GENERATE(
      "", "nul", "nulll", "True", "NaN", "Infinity", "-Infinity", "inf", "undefined", "e55", ".555",
      "+1", "01", "-01", "00", "-", "1.", ".5", "-.5", "1e", "1e+", "1.e5", "1.5e", "0x10", "1_000",
      "1 2", "--1", "1e999x", "1e999 1", "1e5.5", "1.5.5", "01e999", "99999999999999999999.",
      "1e9e9", "1-5e9", "1.-5e9", "--2e3", "-01.5", "0-0.5", "1e5-1e5", "1e-1.5e1", "\"", "\"a",
      "'a'", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\U0041\"", "\"\\ud80g\"", "\"\\ud80G\"",
      "\"\\ud80@\"", "\"\\ud800\\u12\"", "\"\\\"", "\"a\tb\"", "\"a\nb\"", "\"\x1f\"", "[", "]",
      "[1", "[1,]", "[,1]", "[1 2]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[}",
      "{]", "[1}", "/**/1", "1//", "\"a\"\"b\"");
  CAPTURE(value);

  CHECK_FALSE(is_taken(value));
  CHECK(is_stray(R"({"type":"ready","x":)" + value + "}"));
}

TEST_CASE("a line that is no UTF-8 is stray, also where it ends within a character") {
  const std::string bytes = GENERATE("\x80", "\xff", "\xc0\x80", "\xc3", "\xe2\x82", "\xed\xa0\x80",
                                     "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80");

  CHECK_FALSE(is_taken('"' + bytes + '"'));
  CHECK_FALSE(is_taken("[\"" + bytes + "\"]"));
  CHECK(is_stray(R"({"type":"ready","x":")" + bytes));
  CHECK(is_stray(R"({"type":")" + bytes + "\"}"));
  CHECK(is_stray(bytes));
}

TEST_CASE("a NUL byte anywhere makes a line stray") {
  const std::string line = R"({"type":"ready","x":"y"} )";
  for (std::size_t at = 0; at <= line.size(); ++at) {
    std::string with_nul = line;
    CHECK(is_stray(with_nul.insert(at, 1, '\0')));
  }
}

TEST_CASE("a line cut off anywhere is stray, and nothing behind its end is read") {
  const std::string line = R"({"type":"ready","x":["\ud83d\ude00",-1.5e9,{"é":null}]})";
  for (std::size_t size = 0; size < line.size(); ++size) {
    const std::string exact(line, 0, size);
    CHECK(is_stray(exact));
  }
  CHECK(decode_agent_message(line) == Decoded<AgentMessage>(AgentMessage(Ready{})));
}

TEST_CASE("a line nests 32 deep, the message itself being the first, and no deeper") {
  CHECK(is_taken(repeated("[", 31) + repeated("]", 31)));
  CHECK_FALSE(is_taken(repeated("[", 32) + repeated("]", 32)));
  CHECK(is_taken(repeated("{\"a\":", 30) + "[1]" + repeated("}", 30)));
  CHECK_FALSE(is_taken(repeated("{\"a\":", 31) + "[1]" + repeated("}", 31)));
  CHECK(is_taken(repeated("[", 30) + repeated("[],", 100) + "[]" + repeated("]", 30)));
}

TEST_CASE("sixty thousand brackets are stray") {
  CHECK(is_stray(repeated("[", 60'000)));
  CHECK(is_stray(repeated("{", 60'000)));
  CHECK(is_stray(repeated("]", 60'000)));
  CHECK(is_stray(repeated("{\"a\":", 13'000)));
  CHECK(is_stray(R"({"type":"ready","x":)" + repeated("[", 60'000)));
}

TEST_CASE("a line of any content is decoded in memory of a small multiple of its length") {
  const std::string head = R"({"type":"ready")";
  const std::string element =
      GENERATE("[],", "{},", "1,", "\"\",", "0.5,", "\"\\ud800\",", "1e999,", "[[[]]],",
               "{\"\":1,\"\":{}},", "99999999999999999999,");
  const std::size_t count = (line_max - head.size() - 10) / element.size();
  const std::string array = head + R"(,"x":[)" + repeated(element, count) + "0]}";
  const std::string member = ",\"\":" + element.substr(0, element.size() - 1);
  const std::string members =
      head + repeated(member, (line_max - head.size() - 1) / member.size()) + "}";
  REQUIRE(array.size() <= line_max);
  REQUIRE(members.size() <= line_max);

  const wire_test::CountedMemory memory;
  const bool array_is_taken = std::holds_alternative<AgentMessage>(decode_agent_message(array));
  const std::size_t array_bytes = memory.taken();
  const bool members_are_taken =
      std::holds_alternative<AgentMessage>(decode_agent_message(members));
  const std::size_t members_bytes = memory.taken() - array_bytes;

  CHECK(array_is_taken);
  CHECK(members_are_taken);
  CHECK(array_bytes <= 8 * line_bytes_max);
  CHECK(members_bytes <= 8 * line_bytes_max);
}

TEST_CASE("a short line takes little memory") {
  const std::string line = R"({"type":"heartbeat"})";

  const wire_test::CountedMemory memory;
  const Decoded<AgentMessage> decoded = decode_agent_message(line);

  CHECK(std::holds_alternative<AgentMessage>(decoded));
  CHECK(memory.taken() <= 1'000);
}

TEST_CASE("a known member amid ten thousand unknown ones is found, and its double too") {
  const std::string unknown = repeated(R"("":0,)", 10'000);
  const std::string line = "{" + unknown + R"("ms":5,"type":"extend"})";
  const std::string twice = R"({"ms":5,)" + unknown + R"("ms":5,"type":"extend"})";

  CHECK(decode_agent_message(line) == Decoded<AgentMessage>(AgentMessage(Extend{.ms = 5})));
  CHECK(std::holds_alternative<Malformed>(decode_agent_message(twice)));
}

TEST_CASE(
    "of a line that is no JSON it is said where it ceases to be, and what was expected there") {
  const auto [line, reason] = GENERATE(table<std::string, std::string>({
      {R"({"type":"ready")", "no JSON at byte 16 (expected , or })"},
      {R"({"type":"ready",)", "no JSON at byte 17 (expected a member's name)"},
      {R"({"type":"ready",})", "no JSON at byte 17 (expected a member's name)"},
      {R"({'type':'ready'})", "no JSON at byte 2 (expected a member's name)"},
      {R"({"type" "ready"})", "no JSON at byte 9 (expected a colon)"},
      {R"({"type":ready})", "no JSON at byte 9 (expected a value)"},
      {R"({"type":})", "no JSON at byte 9 (expected a value)"},
      {R"({"a":truth})", "no JSON at byte 9 (expected a value)"},
      {R"({"a":[,1]})", "no JSON at byte 7 (expected a value)"},
      {R"({"a":[1 2]})", "no JSON at byte 9 (expected , or ])"},
      {R"({"a":1 "b":2})", "no JSON at byte 8 (expected , or })"},
      {R"({"a":1.})", "no JSON at byte 8 (expected a digit)"},
      {R"({"a":1e})", "no JSON at byte 8 (expected a digit)"},
      {R"({"a":12345678901234567890 x})", "no JSON at byte 27 (expected , or })"},
      {R"({"a":"b)", "no JSON at byte 8 (expected a closing quote)"},
      {R"({"\q":1})", "no JSON at byte 3 (expected a legal character or escape)"},
      {R"({"a":"b\c\q"})", "no JSON at byte 8 (expected a legal character or escape)"},
      {"{\"a\":\"\t\"}", "no JSON at byte 7 (expected a legal character or escape)"},
      {R"({"a":"\u12g4"})", "no JSON at byte 7 (expected a legal character or escape)"},
      {"{\"a\":\"\xff\"}", "no JSON at byte 7 (expected UTF-8)"},
      {R"({"type":"ready"}})", "no JSON at byte 17 (expected the end of the line)"},
      {std::string("{}\0", 3), "no JSON at byte 3 (expected the end of the line)"},
      {repeated("{\"a\":", 33), "no JSON at byte 161 (expected at most 32 levels)"},
      {"oops", "no JSON at byte 1 (expected a value)"},
      {"", "no JSON at byte 1 (expected a value)"},
      {"[1]", "no object"},
  }));
  CAPTURE(line);

  const Result<JsonLine> parsed = JsonLine::parse(line);

  REQUIRE_FALSE(parsed);
  CHECK(parsed.reason() == reason);
}

TEST_CASE("the nodes of a line are its values in their order") {
  using Kind = JsonLine::Kind;
  const Result<JsonLine> parsed = JsonLine::parse(R"({"a":[1,"\u0041"],"b":{"c":true},"b":-12})");
  REQUIRE(parsed);
  const JsonLine* const line = &parsed.value();

  const JsonLine::Found a = line->find(JsonLine::root, "a");
  const JsonLine::Found b = line->find(JsonLine::root, "b");

  REQUIRE(a.index != JsonLine::root);
  CHECK_FALSE(a.twice);
  CHECK(line->node(a.index).kind == Kind::array);
  CHECK(line->text(a.index + 1) == "1");
  CHECK(line->text(a.index + 2) == "A");
  CHECK(line->after(a.index) == a.index + 3);
  REQUIRE(b.index != JsonLine::root);
  CHECK(b.twice);
  CHECK(line->node(b.index).kind == Kind::object);
  CHECK(line->node(line->find(b.index, "c").index).size == 1);
  CHECK(line->find(b.index, "a").index == JsonLine::root);
  CHECK(line->find(JsonLine::root, "c").index == JsonLine::root);
}

TEST_CASE(
    "a text is unescaped and nothing else, and an integer of 18 digits stays as it is spelled") {
  const Result<JsonLine> parsed = JsonLine::parse(
      R"({"text":"\nd800\\ud800\u00e9","number":123456789012345678,"minus":-123456789012345678})");
  REQUIRE(parsed);
  const JsonLine* const line = &parsed.value();
  const auto text = [&line](std::string_view name) {
    return line->text(line->find(JsonLine::root, name).index);
  };

  CHECK(text("text") == "\nd800\\ud800\u00e9");
  CHECK(text("number") == "123456789012345678");
  CHECK(text("minus") == "-123456789012345678");
}

TEST_CASE("an escape is the character that it spells, at each length in UTF-8, and in pairs") {
  const auto [escaped, character] = GENERATE(table<std::string, std::string>({
      {R"(\u0001)", "\x01"},
      {R"(\u007f)", "\x7f"},
      {R"(\u0080)", "\xc2\x80"},
      {R"(\u07ff)", "\xdf\xbf"},
      {R"(\u0800)", "\xe0\xa0\x80"},
      {R"(\uFFFF)", "\xef\xbf\xbf"},
      {R"(\ud800\udc00)", "\xf0\x90\x80\x80"},
      {R"(\uD9AB\uDCDE)", "\xf1\xba\xb3\x9e"},
      {R"(\udbff\udfff)", "\xf4\x8f\xbf\xbf"},
  }));
  CAPTURE(escaped);

  const Result<JsonLine> parsed = JsonLine::parse(R"({"a":")" + escaped + R"("})");

  REQUIRE(parsed);
  CHECK(parsed.value().text(parsed.value().find(JsonLine::root, "a").index) == character);
}

TEST_CASE("a number that is no integer of 18 digits is given as one that is spelled like none") {
  const auto [number, given] = GENERATE(table<std::string, std::string>({
      {"1.5", "0e0"},
      {"-1.5", "-0e0"},
      {"1e3", "0e0"},
      {"-12E-34", "-0e0"},
      {"1234567890123456789", "0e0"},
      {"-0", "-0"},
  }));
  CAPTURE(number);

  const Result<JsonLine> parsed = JsonLine::parse(R"({"a":)" + number + R"(,"b":[]})");

  REQUIRE(parsed);
  CHECK(parsed.value().text(parsed.value().find(JsonLine::root, "a").index) == given);
  CHECK(parsed.value().find(JsonLine::root, "b").index != JsonLine::root);
}

}  // namespace json_line_test
