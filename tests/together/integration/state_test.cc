// Tests the state that one agent leaves to the next: see `stopped` and `activate` in
// agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace state_test {

using namespace integration;

namespace {

// Makes an upgrade in which the old agent leaves the text `state` to the candidate. Returns the
// `activate` line that the candidate reads.
std::string line_after(const std::string& state) {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old);
  old.stop_cleanly("\"state\":" + json_quoted(state));
  return next.next_line();
}

}  // namespace

TEST_CASE("a first agent gets no state, and nobody vouches for its past") {
  World world;
  Puppet first = world.agent();
  first.hello();
  first.ready();

  const Json activate = first.expect("activate");

  CHECK(activate.members() == Texts{"clean"});
  CHECK_FALSE(activate.boolean("clean"));
}

TEST_CASE("a state goes to the next agent unread, byte for byte") {
  std::string every_control;
  for (char byte = 1; byte < 0x20; ++byte)
    every_control += byte;
  const std::string state =
      GENERATE_COPY(std::string(), std::string("x"), std::string("a \"quoted\" \\ / text\n"),
                    every_control, std::string("\x7f caf\u00e9 \u2028 \U0001f600 \ufeff \uffff"),
                    std::string(R"({"type":"activate","clean":true})"));

  const std::string line = line_after(state);

  CHECK(Json::parse(line)->text("state") == state);
  // The upgrader writes `state` in the shortest form of JSON, with only the necessary escapes.
  CHECK(line.find("\"state\":" + json_quoted(state)) != std::string::npos);
}

TEST_CASE("an escape that the writer need not have used is read like any other") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old);
  old.stop_cleanly(R"("state":"\u0041\/\u00e9\ud83d\ude00\u000a")");

  CHECK(next.expect("activate").text("state") == "A/\u00e9\U0001f600\n");
}

TEST_CASE("a state may be as large as the page says") {
  SECTION("32,768 bytes") {
    const std::string state(32'768, 'x');
    CHECK(Json::parse(line_after(state))->text("state") == state);
  }
  SECTION("65,000 bytes as it is written") {
    // In JSON, each of the first 10,833 characters takes six bytes, and the newline takes two
    // bytes. Together they take 65,000 bytes, the limit.
    const std::string state = std::string(10'833, '\x01') + "\n";
    REQUIRE(json_quoted(state).size() == 65'000 + 2);
    CHECK(Json::parse(line_after(state))->text("state") == state);
  }
}

TEST_CASE("a state over its limit is malformed: the stop is not confirmed by it") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);

  SECTION("32,769 bytes") {
    old.say_type("stopped", "\"state\":" + json_quoted(std::string(32'769, 'x')));
  }
  SECTION("32,769 bytes of characters that take two each") {
    std::string state = "x";
    for (int count = 0; count < 16'384; ++count)
      state += "\u00e9";
    old.say_type("stopped", "\"state\":" + json_quoted(state));
  }
  SECTION("65,001 bytes as it is written") {
    const std::string state = std::string(10'833, '\x01') + "\nx";
    REQUIRE(json_quoted(state).size() == 65'001 + 2);
    old.say_type("stopped", "\"state\":" + json_quoted(state));
  }

  old.expect_error("stopped");
  old.say_type("stopped");
  old.exit(0);
  CHECK_FALSE(next.expect("activate").has("state"));
}

TEST_CASE("an empty state is a state") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old);
  old.stop_cleanly(R"("state":"")");

  CHECK(next.expect("activate").text("state").empty());
}

TEST_CASE("state is handed on by each agent anew, not by the upgrader") {
  World world({"--trial=0"});
  Puppet first = world.first();
  Puppet second = world.ready_candidate(first);
  first.stop_cleanly(R"("state":"one")");
  CHECK(second.expect("activate").text("state") == "one");
  second.expect("committed");

  Puppet third = world.ready_candidate(second);
  second.stop_cleanly();

  const Json activate = third.expect("activate");
  CHECK_FALSE(activate.has("state"));
  CHECK(activate.boolean("clean"));
}

TEST_CASE("a fallback gets its own program's state where the failed one was never activated") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped", R"("state":"mine")");
  next.exit(1);
  next.expect_gone();
  old.exit(0);

  Puppet back = world.agent();
  back.hello();
  back.ready();

  const Json activate = back.expect("activate");
  CHECK(activate.text("state") == "mine");
  CHECK(activate.boolean("clean"));
}

TEST_CASE("a fallback gets the failed agent's state if that confirmed its stop") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old);
  old.stop_cleanly(R"("state":"stale")");
  CHECK(next.expect("activate").text("state") == "stale");
  next.say_type("unfit", R"("reason":"no")");

  SECTION("with a state") {
    next.stop_cleanly(R"("state":"fresh")");
    Puppet back = world.agent();
    back.hello();
    back.ready();
    const Json activate = back.expect("activate");
    CHECK(activate.text("state") == "fresh");
    CHECK(activate.boolean("clean"));
  }
  SECTION("without one") {
    next.stop_cleanly();
    Puppet back = world.agent();
    back.hello();
    back.ready();
    const Json activate = back.expect("activate");
    CHECK_FALSE(activate.has("state"));
    CHECK(activate.boolean("clean"));
  }
  SECTION("but none, where it did not confirm") {
    next.expect("stop");
    next.exit(0);
    Puppet back = world.agent();
    back.hello();
    back.ready();
    const Json activate = back.expect("activate");
    CHECK_FALSE(activate.has("state"));
    CHECK_FALSE(activate.boolean("clean"));
  }
}

}  // namespace state_test
