// Tests how agent-conformance reads the output of an agent: which errors it finds in a line, and
// that its time limits hold even if the agent writes without a pause.
#include "tools/agent-conformance/said.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tools/agent-conformance/agent_process.h"

namespace said_test {

using conformance::drain;
using conformance::judge;
using conformance::Line;
using conformance::reads_a_turn_max;
using conformance::Said;

namespace {

Said said(const std::string& bytes, Line::End end = Line::End::newline) {
  return judge({.bytes = bytes, .end = end});
}

}  // namespace

TEST_CASE("every message of an agent is one, with and without its optional members") {
  const std::string line = GENERATE(
      R"({"type":"hello","protocol":1})",
      R"({"features":["readiness"],"version":"1.0","protocol":2147483647,"type":"hello","new":{}})",
      R"({"type":"ready"})", R"({"type":"unfit","reason":""})", R"( {"type" : "healthy"} )",
      R"({"type":"upgrade","id":"u1","executable":"/x"})",
      R"({"type":"upgrade","id":"u1","executable":"/x","args":["a",""],"mode":"sequential",)"
      R"("gate":"none","commit":"healthy","on_unclean_stop":"continue","fallback":"warm",)"
      R"("start_timeout_ms":0,)"
      R"("confirm_timeout_ms":0,"stop_timeout_ms":1,"trial_ms":86400000})",
      R"({"type":"confirm","id":"u1"})", R"({"type":"cancel","id":"u1","reason":"no"})",
      R"({"type":"stopped"})", R"({"type":"stopped","state":"\u00e9\n"})",
      R"({"type":"extend","ms":1})", R"({"type":"heartbeat"})", R"({"type":"status","text":"x"})");

  CHECK(said(line).kind == Said::Kind::message);
}

TEST_CASE("a message that breaks a rule of its type is malformed, and it is said how") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {R"({"type":"hello"})", "`protocol` is missing"},
      {R"({"type":"hello","protocol":0})", "must be from 1 to 2147483647"},
      {R"({"type":"hello","protocol":1.0})", "is no integer"},
      {R"({"type":"hello","protocol":1,"version":null})", "is no text"},
      {R"({"type":"hello","protocol":1,"protocol":1})", "is there twice"},
      {R"({"type":"hello","protocol":1,"features":[1]})", "has an element that is no text"},
      {R"({"type":"unfit"})", "`reason` is missing"},
      {R"({"type":"upgrade","id":"","executable":"/x"})", "is empty"},
      {R"({"type":"upgrade","id":"\u00e9","executable":"/x"})", "is not printable ASCII"},
      {R"({"type":"upgrade","id":"u1","executable":"x"})", "is no absolute path"},
      {R"({"type":"upgrade","id":"u1","executable":"/x","mode":"both"})", "is none of"},
      {R"({"type":"upgrade","id":"u1","executable":"/x","fallback":"hot"})", "is none of"},
      {R"({"type":"upgrade","id":"u1","executable":"/x","stop_timeout_ms":0})", "from 1 to"},
      {R"({"type":"extend","ms":86400001})", "must be from 1 to 86400000"},
      {R"({"type":"status","text":"a\u0000b"})", "holds U+0000"},
      {R"({"type":"stopped","state":[]})", "is no text"},
  }));

  const Said result = said(line);

  CHECK(result.kind == Said::Kind::malformed);
  CHECK_THAT(result.why, Catch::Contains(why));
}

TEST_CASE("texts are counted in bytes, unescaped, and states escaped as well") {
  const auto status = [](std::size_t bytes) {
    return said(R"({"type":"status","text":")" + std::string(bytes, 'x') + "\"}").kind;
  };
  const auto stopped = [](const std::string& one, std::size_t times) {
    std::string state;
    for (std::size_t i = 0; i < times; ++i)
      state += one;
    return said(R"({"type":"stopped","state":")" + state + "\"}").kind;
  };

  CHECK(status(256) == Said::Kind::message);
  CHECK(status(257) == Said::Kind::malformed);
  CHECK(stopped("x", 32'768) == Said::Kind::message);
  CHECK(stopped("x", 32'769) == Said::Kind::malformed);
  CHECK(stopped("\\n", 32'500) == Said::Kind::message);
  CHECK(stopped("\\n", 32'501) == Said::Kind::malformed);
  CHECK(stopped("\\u0001", 10'833) == Said::Kind::message);
  CHECK(stopped("\\u0001", 10'834) == Said::Kind::malformed);
}

TEST_CASE("a line that is not an object with a text as its `type` is stray output") {
  const std::string deep =
      R"({"type":"ready","of":)" + std::string(32, '[') + std::string(32, ']') + "}";
  const std::string line =
      GENERATE_COPY(std::string(), "words", "[]", "null", "{}", R"({"type":7})",
                    R"({"type":"ready","type":"ready"})", R"({"type":"ready")",
                    "{\"type\":\"ready\",\"x\":\"\xff\"}", R"({"type":"\ud800"})", deep);

  CHECK(said(line).kind == Said::Kind::stray);
  CHECK_FALSE(said(line).why.empty());
}

TEST_CASE("a line may nest 32 levels deep") {
  const std::string line =
      R"({"type":"ready","of":)" + std::string(31, '[') + R"("]]{")" + std::string(31, ']') + "}";

  CHECK(said(line).kind == Said::Kind::message);
}

TEST_CASE("a line that is cut off or too long is stray output, whatever it holds") {
  CHECK(said(R"({"type":"ready"})", Line::End::output).kind == Said::Kind::stray);
  CHECK(said(R"({"type":"ready"})", Line::End::too_long).kind == Said::Kind::stray);
}

TEST_CASE("a type that an agent does not have is unknown") {
  CHECK(said(R"({"type":"stop"})").kind == Said::Kind::unknown);
  CHECK(said(R"({"type":""})").kind == Said::Kind::unknown);
}

// ---- how an agent's output is read from its pipe

TEST_CASE("one turn of the loop reads a limited amount of an endless output") {
  const int endless = ::open("/dev/zero", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(endless >= 0);
  int pieces = 0;

  const bool over = drain(endless, [&](std::string_view) {
    if (++pieces > 1'000) FAIL("the turn does not end");
  });

  CHECK_FALSE(over);
  CHECK(pieces == reads_a_turn_max);
  ::close(endless);
}

TEST_CASE("a pipe is read to its end, and the end is reported after the last byte") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(::write(ends[1], "abc", 3) == 3);
  std::string read;
  const auto take = [&](std::string_view bytes) { read += bytes; };

  CHECK_FALSE(drain(ends[0], take));
  CHECK(read == "abc");
  ::close(ends[1]);
  CHECK(drain(ends[0], take));
  ::close(ends[0]);
}

}  // namespace said_test
