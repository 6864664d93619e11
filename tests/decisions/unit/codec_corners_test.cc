// Tests bytes at the limits of the codec, its archives and the line reader.
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/json_line.h"
#include "base/utf8.h"
#include "tests/decisions/unit/aborts.h"

namespace codec_corners_test {

using namespace agent_protocol;

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

// Returns an `activate` with a state that is so long that the message's other members hardly fit
// into the line.
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
  Upgrade upgrade;
  upgrade.id = "u1";
  upgrade.executable = "/agent";
  upgrade.args = std::vector<std::string>(3, std::string(30'000, 'x'));
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

}  // namespace codec_corners_test
