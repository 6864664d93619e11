// Tests how messages become lines, and lines messages: the bytes of every message, the type that
// each line has for the codec, and the messages that the codec refuses to write. The values of
// members are in archive_test.cc.
#include "agent-protocol/cpp/wire/codec.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <variant>

#include "tests/decisions/unit/sample_messages.h"

namespace codec_test {

using namespace agent_protocol;

namespace {

Decoded<AgentMessage> decoded(const wire_test::Sample<AgentMessage>& sample) {
  return decode_agent_message(sample.line);
}

Decoded<UpgraderMessage> decoded(const wire_test::Sample<UpgraderMessage>& sample) {
  return decode_upgrader_message(sample.line);
}

template <class Message>
void check_both_ways(const wire_test::Sample<Message>& sample) {
  CAPTURE(sample.line);

  const Result<std::string> line = encode(sample.message);
  const Decoded<Message> message = decoded(sample);

  REQUIRE(line);
  CHECK(line.value() == sample.line + "\n");
  REQUIRE(std::holds_alternative<Message>(message));
  CHECK(std::get<Message>(message) == sample.message);
}

std::string refusal(const AgentMessage& message) {
  const Result<std::string> line = encode(message);
  return line ? "" : line.reason();
}

std::string refusal(const UpgraderMessage& message) {
  const Result<std::string> line = encode(message);
  return line ? "" : line.reason();
}

template <class Message>
std::size_t types_among(const std::vector<wire_test::Sample<Message>>& samples) {
  std::set<std::size_t> types;
  for (const auto& sample : samples)
    types.insert(sample.message.index());
  return types.size();
}

}  // namespace

TEST_CASE("every message from an agent is written as the page says, and read back the same") {
  REQUIRE(types_among(wire_test::agent_samples()) == std::variant_size_v<AgentMessage>);
  for (const auto& sample : wire_test::agent_samples())
    check_both_ways(sample);
}

TEST_CASE("every message to an agent is written as the page says, and read back the same") {
  REQUIRE(types_among(wire_test::upgrader_samples()) == std::variant_size_v<UpgraderMessage>);
  for (const auto& sample : wire_test::upgrader_samples())
    check_both_ways(sample);
}

TEST_CASE("a message's type has the name that stands on the wire") {
  for (const auto& sample : wire_test::agent_samples()) {
    CHECK(sample.line.starts_with(R"({"type":")" + std::string(type_name(sample.message)) + '"'));
  }
  for (const auto& sample : wire_test::upgrader_samples()) {
    CHECK(sample.line.starts_with(R"({"type":")" + std::string(type_name(sample.message)) + '"'));
  }
}

TEST_CASE("every stage is written and read by its name") {
  const std::string name = GENERATE("request", "spawn", "start", "confirm", "cancel", "stop",
                                    "trial", "commit", "shutdown");
  const std::string line =
      R"({"type":"upgrade_failed","id":"u","stage":")" + name + R"(","reason":""})";

  const Decoded<UpgraderMessage> message = decode_upgrader_message(line);

  REQUIRE(std::holds_alternative<UpgraderMessage>(message));
  CHECK(encode(std::get<UpgraderMessage>(message)).value() == line + "\n");
}

TEST_CASE("order of members and white space are free, and unknown members are ignored") {
  const Decoded<AgentMessage> message = decode_agent_message(
      " {\t\"ms\" : 5 ,\r\n \"x\":null, \"y\":[1e999,{\"ms\":\"\\ud800\"}],\"x\":{},"
      "\"\\u0074ype\":\"\\u0065xtend\"} \t");

  CHECK(message == Decoded<AgentMessage>(AgentMessage(Extend{.ms = 5})));
}

TEST_CASE("a line that is no object with one text as its type is stray") {
  const std::string line =
      GENERATE("", " ", "hello", "1", "null", "\"type\"", "[]", R"(["type","ready"])", "{}", "{",
               R"({"type"})", R"({"type":})", R"({"type":"ready")", R"({"type":"ready"]})",
               R"({"type":null})", R"({"type":1})", R"({"type":true})", R"({"type":["ready"]})",
               R"({"type":{"type":"ready"}})", R"({"Type":"ready"})", R"({"type ":"ready"})",
               R"({"a":{"type":"ready"}})", R"({"type":"ready","type":"ready"})",
               R"({"type":"ready","\u0074ype":"ready"})", R"({"type":"ready","type":1})",
               R"({"type":"ready"}{})", R"({"type":"ready"} x)", R"({"type":"ready"},)",
               R"(x{"type":"ready"})", R"({"type":"ready",})", R"({,"type":"ready"})",
               R"({"type":"ready" "a":1})", R"({'type':'ready'})", R"({type:"ready"})",
               R"({"type":"ready"}//)", "\xef\xbb\xbf{\"type\":\"ready\"}");
  CAPTURE(line);

  CHECK(std::holds_alternative<Stray>(decode_agent_message(line)));
  CHECK(std::holds_alternative<Stray>(decode_upgrader_message(line)));
}

TEST_CASE("why a line is stray is said where it begins as a message does, and of no other") {
  const auto [line, reason] = GENERATE(table<std::string, std::string>({
      {R"({"type":"ready",})", "no JSON at byte 17 (expected a member's name)"},
      {R"({"typ":"ready"})", "no text as its type"},
      {R"({"type":1})", "no text as its type"},
      {R"({"type":"ready","type":"ready"})", "two types"},
      {"starting {", ""},
      {"[1]", ""},
      {"", ""},
  }));
  CAPTURE(line);

  CHECK(decode_agent_message(line) == Decoded<AgentMessage>(Stray{reason}));
}

TEST_CASE("a type that only the other direction has is unknown") {
  for (const auto& sample : wire_test::agent_samples()) {
    const std::string type(type_name(sample.message));
    CHECK(decode_upgrader_message(sample.line) == Decoded<UpgraderMessage>(Unknown{type}));
  }
  for (const auto& sample : wire_test::upgrader_samples()) {
    const std::string type(type_name(sample.message));
    CHECK(decode_agent_message(sample.line) == Decoded<AgentMessage>(Unknown{type}));
  }
}

TEST_CASE("a type that nobody knows is unknown, whatever stands in it or beside it") {
  using namespace std::string_literals;
  const auto [line, type] = GENERATE(table<std::string, std::string>({
      {R"({"type":"park","ms":{}})", "park"},
      {R"({"type":""})", ""},
      {R"({"type":"Ready"})", "Ready"},
      {R"({"type":"ready\u0000"})", "ready\0"s},
      {R"({"type":"\udead"})", "\0"s},
      {R"({"type":"read"})", "read"},
  }));

  CHECK(decode_agent_message(line) == Decoded<AgentMessage>(Unknown{type}));
}

TEST_CASE("a malformed upgrade keeps its id for the answer if the id itself is well formed") {
  const auto [members, id] = GENERATE(table<std::string, std::optional<std::string>>({
      {R"("id":"u7")", "u7"},
      {R"("executable":"x","mode":1,"id":"u7")", "u7"},
      {R"("id":"u7","executable":"/x","mode":"sequential","gate":"confirm")", "u7"},
      {R"("executable":"x")", std::nullopt},
      {R"("id":"","executable":"/x")", std::nullopt},
      {R"("id":7,"executable":"/x")", std::nullopt},
      {R"("id":"u7","id":"u7","executable":"/x")", std::nullopt},
      {R"("id":"u\n","executable":"/x")", std::nullopt},
  }));

  const Decoded<AgentMessage> message =
      decode_agent_message(R"({"type":"upgrade",)" + members + "}");

  REQUIRE(std::holds_alternative<Malformed>(message));
  CHECK(std::get<Malformed>(message).type == "upgrade");
  CHECK(std::get<Malformed>(message).id == id);
}

TEST_CASE("only an upgrade's id is kept") {
  const Decoded<AgentMessage> message =
      decode_agent_message(R"({"type":"cancel","id":"u7","reason":1})");

  REQUIRE(std::holds_alternative<Malformed>(message));
  CHECK(std::get<Malformed>(message).id == std::nullopt);
}

TEST_CASE("a message that breaks a rule is not written") {
  using namespace std::string_literals;
  CHECK(refusal(Status{.text = std::string(257, 'x')}) == R"("text" is longer than 256 bytes)");
  CHECK(refusal(Status{.text = "a\0b"s}) == R"("text" holds U+0000 or a lone surrogate)");
  CHECK(refusal(Status{.text = "\xff"}) == R"("text" is no UTF-8)");
  CHECK(refusal(Status{.text = "\xed\xa0\x80"}) == R"("text" is no UTF-8)");
  CHECK(refusal(Extend{.ms = 0}) == R"("ms" is 0; it must be 1 to 86400000)");
  CHECK(refusal(Confirm{.id = ""}) == R"("id" is not printable ASCII of at least one byte)");
  CHECK(refusal(Hello{.protocol = 1, .version = {}, .features = {std::string(33, 'x')}}) ==
        R"(an element of "features" is longer than 32 bytes)");
  CHECK(refusal(Activate{.state = std::string(10'834, '\x01'), .clean = true}) ==
        R"("state" is longer than 65000 bytes when it is escaped)");
  CHECK(refusal(UpgradeFailed{wire_test::sample_failure(static_cast<Stage>(99))})
            .starts_with(R"("stage" must be "request", "spawn", )"));
  CHECK(
      refusal(Stop{.reason = StopReason::upgrade, .deadline_ms = 1, .id = "u", .generation = {}}) ==
      R"("reason" is "upgrade"; that needs "id" and "generation")");
}

TEST_CASE("a refusal names the first fault") {
  Failure failure = wire_test::sample_failure(Stage::start);
  failure.id = "";
  failure.reason = "\xff";
  Welcome welcome{.protocol = 1,
                  .features = {},
                  .generation = 0,
                  .role = Role::fallback,
                  .previous_version = {},
                  .failure = PastFailure{failure, {}},
                  .watchdog_ms = {}};

  CHECK(refusal(welcome) == R"("generation" is 0; it must be 1 to 9007199254740991)");
  welcome.generation = 3;
  CHECK(refusal(welcome) == R"("failure.id" is not printable ASCII of at least one byte)");
}

TEST_CASE("a message whose line is too long is not written, one that just fits is read back") {
  Upgrade upgrade;
  upgrade.id = "u";
  upgrade.executable = "/x";
  upgrade.args = {""};
  const std::size_t room = line_bytes_max - encode(AgentMessage(upgrade)).value().size();

  upgrade.args = {std::string(room, 'x')};
  const Result<std::string> fits = encode(AgentMessage(upgrade));
  upgrade.args = {std::string(room + 1, 'x')};

  REQUIRE(fits);
  CHECK(fits.value().size() == line_bytes_max);
  const std::string_view line = std::string_view(fits.value()).substr(0, line_bytes_max - 1);
  CHECK(std::holds_alternative<AgentMessage>(decode_agent_message(line)));
  CHECK(refusal(upgrade) == "the message is longer than 65536 bytes");
}

TEST_CASE("the largest state that an agent may leave fits the line that hands it on") {
  const std::string state = GENERATE(std::string(32'768, 'x'), std::string(10'833, '\x01'),
                                     std::string(32'500, '"'), std::string(32'500, '\n'));

  CHECK(encode(AgentMessage(Stopped{.state = state})));
  CHECK(encode(UpgraderMessage(Activate{.state = state, .clean = false})));
}

}  // namespace codec_test
