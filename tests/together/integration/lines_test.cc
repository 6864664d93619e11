// Tests how messages are written as lines, and how the upgrader treats bytes that are not a
// message: see LINES in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace lines_test {

using namespace integration;

namespace {

// Returns a message whose line, including the newline, is `bytes` bytes long.
std::string padded(const std::string& type, std::size_t bytes) {
  const std::string line = "{\"type\":" + json_quoted(type) + R"(,"pad":""})";
  std::string result = line;
  result.insert(line.size() - 2, std::string(bytes - 1 - line.size(), 'p'));
  return result;
}

// Returns a message in which one member has nested arrays, so that the whole line has `levels`
// levels.
std::string nested(const std::string& type, std::size_t levels) {
  return "{\"type\":" + json_quoted(type) + ",\"x\":" + std::string(levels - 1, '[') +
         std::string(levels - 1, ']') + "}";
}

}  // namespace

TEST_CASE("order of members and white space are free") {
  World world;
  Puppet first = world.agent();

  first.say_bytes(" { \"version\" :\t\"1.0\" , \"protocol\"\r: 1, \"type\" : \"hello\" } \r\n");
  first.expect("welcome");
  first.say_bytes("\t{\"type\":\"ready\" }\n");

  first.expect("activate");
}

TEST_CASE("members that the reader does not know are ignored, whatever they hold") {
  World world;
  Puppet first = world.agent();

  first.say_type("hello", R"("protocol":1,"x":null,"y":[1,{"z":1.5e3}],"x":"twice","w":"\u0000")");

  first.expect("welcome");
}

TEST_CASE("a line may come in as many pieces as it likes, and many lines in one") {
  World world;
  Puppet first = world.agent();
  for (const char byte : std::string("{\"type\":\"hello\",\"protocol\":1}\n")) {
    first.say_bytes(std::string(1, byte));
  }
  first.expect("welcome");

  first.say_bytes("{\"type\":\"ready\"}\n{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":");

  first.expect("activate");
  first.expect_error("a");
  first.expect_error("b");
  first.say_bytes("\"c\"}\n");
  first.expect_error("c");
}

TEST_CASE("a line of 65,536 bytes is read, one of a byte more is skipped to its newline") {
  World world;
  Puppet first = world.first();

  first.say(padded("fits", 65'536));
  first.expect_error("fits");
  first.say(padded("over", 65'537));
  first.say(padded("over", 1'000'000));
  first.say_bytes(std::string(70'000, ' ') + "{\"type\":\"hidden\"}\n");

  // If a line exceeds the limit, the upgrader must skip the whole line, even if the part after the
  // limit looks like a message.
  first.expect_silence();
  first.say_type("next");
  first.expect_error("next");
  world.wait_for_log("over");
}

TEST_CASE("a line that is no JSON object with a string type is stray output, and is ignored") {
  const std::string line = GENERATE_COPY(
      std::string(""), std::string("   "), std::string("hello"), std::string("null"),
      std::string("[]"), std::string("5"), std::string("\"ready\""), std::string("{}"),
      std::string(R"({"type":5})"), std::string(R"({"type":null})"),
      std::string(R"({"type":["a"]})"), std::string(R"({"Type":"a"})"),
      std::string(R"({"type":"a")"), std::string(R"({"type":"a"} x)"),
      std::string(R"({"type":"a"}{"type":"a"})"), std::string(R"({"type":"a",})"),
      std::string(R"({'type':'a'})"), std::string(R"({type:"a"})"),
      std::string(R"({"type":"a"} // b)"), std::string(R"({"type":"a","b":01})"),
      std::string(R"({"type":"a","b":NaN})"), std::string(R"({"type":"a","b":+1})"),
      std::string(R"({"type":"a","type":"a"})"), std::string(R"({"type":"a","type":1})"),
      std::string("{\"type\":\"a\tb\"}"), std::string("{\"type\":\"a\",\"b\":\"\x01\"}"),
      std::string("{\"type\":\"a\",\"b\":\"\xff\"}"),
      std::string("{\"type\":\"a\",\"b\":\"\xc0\x80\"}"),
      std::string("{\"type\":\"a\",\"b\":\"\xed\xa0\x80\"}"), std::string("{\"type\":\"a\"}\0", 13),
      std::string("\xef\xbb\xbf{\"type\":\"a\"}"));
  INFO(line);
  World world;
  Puppet first = world.first();

  first.say(line);

  first.expect_silence();
}

TEST_CASE("a message may nest 32 levels deep, and no deeper") {
  World world;
  Puppet first = world.first();

  first.say(nested("odd", 32));
  first.expect_error("odd");
  first.say(nested("odd", 33));
  first.say(nested("odd", 20'000));

  first.expect_silence();
}

TEST_CASE("a malformed member makes the message malformed: an error, and nothing changes") {
  struct Row {
    const char* type;
    const char* members;
  };
  World world;
  Puppet first = world.agent();
  first.hello();
  const std::string long_text = "\"reason\":" + json_quoted(std::string(1'025, 'x'));
  const std::string long_status = "\"text\":" + json_quoted(std::string(257, 'x'));
  for (const Row& row : std::initializer_list<Row>{
           {"extend", ""},
           {"extend", R"("ms":"5")"},
           {"extend", R"("ms":null)"},
           {"extend", R"("ms":true)"},
           {"extend", R"("ms":[5])"},
           {"extend", R"("ms":0)"},
           {"extend", R"("ms":-1)"},
           {"extend", R"("ms":86400001)"},
           {"extend", R"("ms":99999999999999999999999)"},
           {"extend", R"("ms":5.5)"},
           {"extend", R"("ms":5.0)"},
           {"extend", R"("ms":5e3)"},
           {"extend", R"("ms":5E0)"},
           {"extend", R"("ms":5,"ms":5)"},
           {"status", ""},
           {"status", R"("text":5)"},
           {"status", R"("text":null)"},
           {"status", R"("text":{"text":"x"})"},
           {"status", R"("text":"a\u0000b")"},
           {"status", R"("text":"\ud800")"},
           {"status", R"("text":"\udc00\ud800")"},
           {"status", R"("text":"x","text":"x")"},
           {"status", long_status.c_str()},
           {"unfit", ""},
           {"unfit", R"("reason":false)"},
           {"unfit", long_text.c_str()},
       }) {
    INFO(row.type << " " << row.members);
    first.say_type(row.type, row.members);
    first.expect_error(row.type);
  }
  first.expect_silence();
  first.ready();
  first.expect("activate");
}

TEST_CASE("the length of a text is its number of bytes without escapes") {
  World world;
  Puppet first = world.first();
  std::string fits;
  std::string over = "x";
  for (int count = 0; count < 128; ++count)
    fits += "\u00e9", over += "\u00e9";

  first.say_type("status", "\"text\":" + json_quoted(fits));
  first.say_type("status", "\"text\":" + json_quoted(std::string(256, '\n')));
  first.expect_silence();
  first.say_type("status", "\"text\":" + json_quoted(over));

  first.expect_error("status");
}

TEST_CASE("an unknown type is answered with error, its name cut to 64 bytes") {
  World world;
  Puppet first = world.first();

  first.say_type("activate");
  first.expect_error("activate");
  first.say_type(std::string(64, 'n'));
  first.expect_error(std::string(64, 'n'));
  first.say_type(std::string(65, 'n'));
  first.expect_error(std::string(64, 'n'));
  first.say("{\"type\":\"\"}");
  first.expect("error");
  first.say("{\"type\":" + json_quoted(std::string(63, 'n') + "\u00e9") + "}");

  // The `error` names the unknown type, truncated to 63 bytes. The limit is 64 bytes, but the next
  // character takes two bytes.
  first.expect_error(std::string(63, 'n'));
}

TEST_CASE("a line that the end of the output cuts off is stray, however whole it looks") {
  World world;
  Puppet first = world.first();
  world.signal(15);
  first.expect("stop");

  first.say_bytes("{\"type\":\"stopped\"}");
  first.exit(3);

  world.expect_exit(3);
}

}  // namespace lines_test
