// Tests which lines of an agent's output and which events of its life are logged, and how many
// lines at most: see LINES in agent-protocol(7) and LOG in upgrader(8).
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/together/integration/world.h"

namespace log_test {

using namespace integration;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the log says as which process an agent was started, and from which file") {
  World world;
  const Puppet first = world.first();

  CHECK(world.log().starts_with("upgrader: generation 1: started as process " +
                                std::to_string(first.pid()) + ", " + World::puppet() + "\n"));
}

TEST_CASE("debug shows the conversation with each agent, cut and escaped") {
  World world(Start{.options = {"--log-level=debug"}});
  Puppet active = world.first();

  active.say("{\"type\":\"status\",\"text\":\"\\u001b\xc2\x9b" + std::string(300, 'w') + "\"}");
  active.expect("error");
  world.hand_over(active);

  const std::string log = world.log();
  const std::string said = R"(debug: generation 1 says {"type":"status","text":"\u001b\xc2\x9b)";
  CHECK(log.find(R"(debug: generation 1 says {"type":"hello",)") != std::string::npos);
  CHECK(log.find(R"(debug: generation 1 is told {"type":"welcome",)") != std::string::npos);
  CHECK(log.find(R"(debug: generation 1 is told {"type":"activate",)") != std::string::npos);
  CHECK(log.find(R"(debug: generation 2 says {"type":"ready"})") != std::string::npos);
  CHECK(log.find(said + "www") != std::string::npos);
  CHECK(log.find(std::string(200, 'w')) == std::string::npos);
  CHECK(log.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("without debug the log shows nothing of the conversation") {
  World world;
  Puppet active = world.first();
  world.hand_over(active);

  CHECK(world.log().find("\"type\"") == std::string::npos);
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

TEST_CASE("further stray lines of an agent are counted in the log before its exit is logged") {
  World world;
  Puppet first = world.first();
  world.freeze();
  first.say_bytes("stray-one\nstray-two\nstray-three\n");
  first.exit(0);
  world.thaw();

  world.expect_exit(0);

  const std::string log = world.log();
  CHECK(log.find("stray-one") != std::string::npos);
  CHECK(log.find("2 more lines of stray output") < log.find("exited with status 0"));
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

TEST_CASE("of many status lines in a second the first is shown at once, and the last one later") {
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

TEST_CASE(
    "an agent that never says hello is named in the log, and in its failure, with what it means") {
  World world({"--trial=0"});
  Puppet active = world.first();
  active.request_upgrade("u1");
  Puppet mute = world.agent();

  world.wait_for_log(
      "upgrader: warning: generation 2 has not said hello for 5s; it may not speak "
      "agent-protocol(7); --adapter=agentify runs programs that do not\n");
  mute.exit(1);

  active.expect("accepted");
  CHECK(active.expect("upgrade_failed").text("reason") ==
        "exited with status 1 before it was ready; it never said hello, so it may not speak "
        "agent-protocol(7); --adapter=agentify runs programs that do not");
}

TEST_CASE("the log says that an agent has taken its work back, and why") {
  World world({"--trial=0"});
  Puppet active = world.first();
  Puppet candidate = world.stop_for_upgrade(active);
  candidate.kill(SIGKILL);
  active.expect("candidate_lost");

  active.say_type("cancel", R"("id":"u1","reason":"my files are still open")");

  active.expect("upgrade_failed");
  world.wait_for_log(
      "upgrader: generation 1 (version 1.0) has taken its work back, and stays active: my files "
      "are still open\n");
}

}  // namespace log_test
