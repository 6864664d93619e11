// Tests how messages are encoded as lines, and lines decoded as messages. This covers the bytes of
// every message, the type of message that the codec finds in a line, the messages that the codec
// refuses to write, and input at the limits of the codec, its archives and the line reader. The
// values of members are in archive_test.cc.
#include "agent-protocol/cpp/wire/codec.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>
#include <string>
#include <variant>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/json_line.h"
#include "base/utf8.h"
#include "tests/decisions/unit/processes.h"
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
                                    "trial", "commit", "shutdown", "boot");
  const std::string line =
      R"({"type":"upgrade_failed","id":"u","stage":")" + name + R"(","reason":""})";

  const Decoded<UpgraderMessage> message = decode_upgrader_message(line);

  REQUIRE(std::holds_alternative<UpgraderMessage>(message));
  CHECK(encode(std::get<UpgraderMessage>(message)).value() == line + "\n");
}

TEST_CASE("a stage that only a later upgrader knows is read and written as it is") {
  const std::string line = GENERATE(
      R"({"type":"upgrade_failed","id":"u","stage":"later","reason":""})",
      R"({"type":"upgrade_failed","id":"u","stage":"","reason":""})",
      R"({"type":"activate","clean":true,"failure":{"id":"u","stage":"later","reason":""}})");
  CAPTURE(line);

  const Decoded<UpgraderMessage> message = decode_upgrader_message(line);

  REQUIRE(std::holds_alternative<UpgraderMessage>(message));
  CHECK(encode(std::get<UpgraderMessage>(message)).value() == line + "\n");
}

TEST_CASE("a condition of the trial that only a later upgrader knows counts as absent") {
  const auto activate = [](const std::string& commit) {
    return decode_upgrader_message(R"({"type":"activate","clean":true,"commit":)" + commit + "}");
  };

  CHECK(activate(R"("later")") == Decoded<UpgraderMessage>(Activate{.state = {}, .clean = true}));
  CHECK(std::holds_alternative<Malformed>(activate(R"("\ud800")")));
  CHECK(std::holds_alternative<Malformed>(activate("1")));
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
  Upgrade upgrade{.id = "u", .executable = "/x", .args = std::vector<std::string>{""}};
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

// ---- unusual input, and values at the limits of the codec, its archives and the line reader

namespace {

std::string wrong_with(const std::string& line) {
  const Decoded<AgentMessage> message = decode_agent_message(line);
  const auto* malformed = std::get_if<Malformed>(&message);
  return malformed != nullptr ? malformed->reason : "";
}

// Encodes the message. Returns the error number if that fails, otherwise 0.
int error_of(const AgentMessage& message) {
  const Result<std::string> line = encode(message);
  return line ? 0 : line.refusal().error_number;
}

// Returns an `activate` whose line is nearly as long as a line may be. The `state` has 10,800 bytes
// that take six bytes each in the line, and then `state_bytes` bytes that take one byte each.
Activate nearly_full(std::size_t state_bytes) {
  Activate activate;
  activate.state = std::string(10'800, '\x01') + std::string(state_bytes, 'x');
  activate.failure.emplace();
  activate.failure->failure.id = "u1";
  return activate;
}

}  // namespace

TEST_CASE("an empty text begins with no character") {
  CHECK(utf8_character_bytes("") == 0);
}

TEST_CASE("more bytes than there was space for are the caller's fault") {
  CHECK(aborts([] { LineReader().written(line_bytes_max + 1); }));
  CHECK_FALSE(aborts([] { LineReader().written(line_bytes_max); }));
  CHECK(aborts([] {
    LineReader reader;
    reader.written(1);
    reader.written(line_bytes_max);
  }));
}

TEST_CASE("every escape that JSON has is read, in names too") {
  const std::string text = R"("\/\u00E9\u00e9\ud83D\uDe00\u000a\"\\\b\f\r\t")";

  const Decoded<AgentMessage> message =
      decode_agent_message(R"({"\u0074\u0079pe":"\u0073tatus","t\u0065xt":)" + text + "}");

  REQUIRE(std::holds_alternative<AgentMessage>(message));
  CHECK(std::get<AgentMessage>(message) ==
        AgentMessage(Status{"/\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80\n\"\\\b\f\r\t"}));
}

TEST_CASE("an array is refused at its first element that is no text, whatever follows") {
  CHECK(wrong_with(R"({"type":"hello","protocol":1,"features":[1,"a"]})") ==
        wrong_with(R"({"type":"hello","protocol":1,"features":[1]})"));
  CHECK(wrong_with(R"({"type":"hello","protocol":1,"features":[1,"a"]})") != "");
}

TEST_CASE("a message with more texts than its member takes is not written") {
  Hello hello;
  hello.features.assign(17, "a");

  CHECK_FALSE(encode(AgentMessage(hello)));
  hello.features.pop_back();
  CHECK(encode(AgentMessage(hello)));
}

TEST_CASE("the first refusal is kept") {
  Refusals refusals;
  CHECK_FALSE(refusals.refusal());
  CHECK(refusals.error_number() == 0);

  refusals.refuse("one", EMSGSIZE);
  refusals.refuse("two");

  CHECK(refusals.refusal() == "one");
  CHECK(refusals.error_number() == EMSGSIZE);
}

TEST_CASE("a message that is not written says by number what was wrong with it") {
  Hello hello;
  hello.features.assign(17, "a");
  Upgrade upgrade{.id = "u1",
                  .executable = "/agent",
                  .args = std::vector<std::string>(3, std::string(30'000, 'x'))};
  CHECK(error_of(Status{"\xff"}) == EILSEQ);
  CHECK(error_of(Status{std::string(257, 'x')}) == EMSGSIZE);
  CHECK(error_of(Stopped{std::string(32'768, '\x01')}) == EMSGSIZE);
  CHECK(error_of(hello) == EMSGSIZE);
  CHECK(error_of(upgrade) == EMSGSIZE);
  CHECK(error_of(Cancel{"", {}}) == EINVAL);
  CHECK(error_of(Status{"good"}) == 0);
  CHECK(JsonLine::parse("{").refusal().error_number == EINVAL);
}

TEST_CASE(
    "bytes that no newline ends are stray, and said to be too many where they look like JSON") {
  CHECK(without_newline("{\"type\":") == Stray{"no newline within 65536 bytes"});
  CHECK(without_newline("noise") == Stray{});
}

TEST_CASE("an activate that fits its line stays as it is") {
  Activate without;
  without.state = std::string(32'768, 'x');
  Activate with = nearly_full(0);
  with.failure->version = "2.0";
  with.failure->failure.reason = "crashed";
  for (Activate activate : {without, with}) {
    const Activate before = activate;
    fit_line(activate);
    CHECK(activate == before);
  }
}

TEST_CASE("a reason too long for an activate is cut to the room in its line") {
  const char byte = GENERATE('r', '\x01');
  for (std::size_t state_bytes = 60; state_bytes < 66; ++state_bytes) {
    Activate activate = nearly_full(state_bytes);
    std::string& reason = activate.failure->failure.reason;
    const std::size_t room = line_bytes_max - encode(activate).value().size();
    const std::size_t fitting = room / (byte == 'r' ? 1 : 6);
    reason.assign(1'024, byte);

    fit_line(activate);

    CAPTURE(byte, state_bytes);
    CHECK(encode(activate));
    CHECK(reason == std::string(fitting, byte));
  }
}

TEST_CASE("a high surrogate is half a character unless a low one follows") {
  const auto status = [](const std::string& text) {
    return wrong_with(R"({"type":"status","text":")" + text + R"("})");
  };

  CHECK(status(R"(\ud800\udbff)") != "");
  CHECK(status(R"(\ud800\udc00)") == "");
  CHECK(status(R"(\ud800\udfff)") == "");
  CHECK(status(R"(\ud800\ue000)") != "");
  CHECK(status(R"(\ud7ff\ue000\uffff)") == "");
}

TEST_CASE("what follows a failure loses its version before it loses of its reason, to fit a line") {
  Activate without{.state = std::string(32'768, 'x'), .clean = true};
  fit_line(without);
  CHECK(without.state->size() == 32'768);

  Activate activate{.state = std::string(10'833, '\x01'), .clean = true};
  activate.failure.emplace();
  activate.failure->failure.id = "u1";
  activate.failure->version = std::string(128, 'v');
  const std::size_t room = line_bytes_max - encode(UpgraderMessage(activate)).value().size();
  activate.failure->failure.reason = std::string(room + 1, 'r');
  const std::string reason = activate.failure->failure.reason;
  REQUIRE_FALSE(encode(UpgraderMessage(activate)));

  fit_line(activate);

  CHECK(encode(UpgraderMessage(activate)));
  CHECK_FALSE(activate.failure->version);
  CHECK(activate.failure->failure.reason == reason);
}

}  // namespace codec_test
