// Bytes at the edges of what the codec, its archives and the line reader take.
#include <catch2/catch.hpp>
#include <string>

#include "agent-protocol/wire/archive.h"
#include "agent-protocol/wire/codec.h"
#include "agent-protocol/wire/line_reader.h"
#include "agent-protocol/wire/utf8.h"
#include "tests/unit/aborts.h"

using namespace agent_protocol;

namespace {

std::string wrong_with(const std::string& line) {
  const Decoded<AgentMessage> message = decode_agent_message(line);
  const auto* malformed = std::get_if<Malformed>(&message);
  return malformed != nullptr ? malformed->reason : "";
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

  refusals.refuse("one");
  refusals.refuse("two");

  CHECK(refusals.refusal() == "one");
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
