// How a message is written, and what is made of everything else: PROTOCOL.md §2.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/integration/world.h"

using namespace integration;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// A message whose line has this many bytes with its newline.
std::string padded(const std::string& type, std::size_t bytes) {
  const std::string line = "{\"type\":" + quoted(type) + R"(,"pad":""})";
  std::string result = line;
  result.insert(line.size() - 2, std::string(bytes - 1 - line.size(), 'p'));
  return result;
}

// A message with a member that nests so deep that the whole has this many levels.
std::string nested(const std::string& type, std::size_t levels) {
  return "{\"type\":" + quoted(type) + ",\"x\":" + std::string(levels - 1, '[') +
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

  // What would be a line by itself behind the limit is none.
  first.expect_silence();
  first.say_type("next");
  first.expect_error("next");
}

TEST_CASE("what is no JSON object with a string type is stray output, and is ignored") {
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

TEST_CASE("stray output goes to the log, its first 200 bytes, escaped") {
  World world;
  Puppet first = world.first();

  first.say("\x1b[31m" + std::string(195 + 100, 'w'));

  world.wait_for_log("wwwwwwwwww");
  CHECK(world.log().find(std::string(195, 'w')) != std::string::npos);
  CHECK(world.log().find(std::string(196, 'w')) == std::string::npos);
  CHECK(world.log().find('\x1b') == std::string::npos);
}

TEST_CASE("stray output is logged once a second at most, with a count of the rest") {
  World world;
  Puppet first = world.first();
  const auto begin = std::chrono::steady_clock::now();
  std::string lines;
  for (int count = 0; count < 778; ++count)
    lines += "stray-one\n";

  world.freeze();
  first.say_bytes(lines);
  world.thaw();
  first.expect_silence();
  world.pass(1'100);
  first.say("stray-two");
  world.wait_for_log("777");

  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
  CHECK(count_of(world.log(), "stray-one") <= static_cast<std::size_t>(seconds.count()) + 2);
}

TEST_CASE("each agent has its own share of the log") {
  World world;
  Puppet first = world.first();
  Puppet next = world.begin_upgrade(first);
  world.freeze();
  first.say("stray of the first");
  next.say("stray of the second");
  world.thaw();

  world.wait_for_log("stray of the first");
  world.wait_for_log("stray of the second");
}

TEST_CASE("of many status lines in a second the first is shown at once, and the last in the end") {
  World world;
  Puppet first = world.first();
  std::string lines = R"({"type":"status","text":"status-first"})"
                      "\n";
  for (int count = 0; count < 300; ++count) {
    lines += R"({"type":"status","text":"status-between"})"
             "\n";
  }
  lines += R"({"type":"status","text":"status-last"})"
           "\n";

  world.freeze();
  first.say_bytes(lines);
  world.thaw();

  world.wait_for_log("status-first");
  world.wait_for_log("status-last");
  CHECK(count_of(world.log(), "status-between") <= 2);
}

TEST_CASE("errors are limited in the log likewise, but each one is sent") {
  World world;
  Puppet first = world.first();
  std::string lines;
  for (int count = 0; count < 300; ++count)
    lines += "{\"type\":\"odd\"}\n";

  world.freeze();
  first.say_bytes(lines);
  world.thaw();
  for (int count = 0; count < 300; ++count)
    first.expect_error("odd");

  CHECK(count_of(world.log(), "odd") <= 4);
}

TEST_CASE("a malformed member makes the message malformed: an error, and nothing changes") {
  struct Row {
    const char* type;
    const char* members;
  };
  World world;
  Puppet first = world.agent();
  first.hello();
  const std::string long_text = "\"reason\":" + quoted(std::string(1'025, 'x'));
  const std::string long_status = "\"text\":" + quoted(std::string(257, 'x'));
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

TEST_CASE("a text is as long as its bytes are, unescaped") {
  World world;
  Puppet first = world.first();
  std::string fits;
  std::string over = "x";
  for (int count = 0; count < 128; ++count)
    fits += "\u00e9", over += "\u00e9";

  first.say_type("status", "\"text\":" + quoted(fits));
  first.say_type("status", "\"text\":" + quoted(std::string(256, '\n')));
  first.expect_silence();
  first.say_type("status", "\"text\":" + quoted(over));

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
  first.say("{\"type\":" + quoted(std::string(63, 'n') + "\u00e9") + "}");

  // Between characters.
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
