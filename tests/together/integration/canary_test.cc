// Tests the fixture of the integration tests. Each check of the fixture must be able to fail,
// because all integration tests rely on these checks.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/puppet_rules.h"
#include "tests/together/integration/world.h"

namespace canary_test {

using namespace integration;

namespace {

// A puppet (fake agent) that the test itself starts. The test acts as the upgrader, and writes to
// the puppet's standard input.
struct OwnPuppet {
  explicit OwnPuppet(const World& world) {
    int input[2];
    REQUIRE(pipe2(input, O_CLOEXEC) == 0);
    const std::string directory = world.path("");
    pid = fork();
    if (pid == 0) {
      dup2(input[0], 0);
      dup2(open("/dev/null", O_WRONLY), 1);
      setenv("PUPPET_DIR", directory.c_str(), 1);
      execl(World::puppet().c_str(), "puppet", nullptr);
      _exit(121);
    }
    close(input[0]);
    to = input[1];
  }
  ~OwnPuppet() {
    close(to);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  void write_line(std::string line) const {
    line += '\n';
    REQUIRE(write(to, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }

  pid_t pid = -1;
  int to = -1;
};

void lead_to_ready(Puppet agent) {
  agent.say_type("hello", "\"protocol\":1");
  agent.say_type("ready");
}

}  // namespace

TEST_CASE("two agents that are active at once are caught") {
  World world{World::Later()};
  const OwnPuppet one(world);
  Puppet first = world.agent();
  const OwnPuppet other(world);
  Puppet second = world.agent();
  lead_to_ready(first);
  lead_to_ready(second);

  for (const OwnPuppet* puppet : {&one, &other}) {
    puppet->write_line(R"({"type":"welcome","protocol":1})");
    puppet->write_line(R"({"type":"activate","clean":false})");
  }
  for (Puppet agent : {first, second}) {
    agent.expect("welcome");
    agent.expect("activate");
  }

  CHECK(world.violations().find("two agents are active") != std::string::npos);
  world.expect_violation();
}

TEST_CASE("an agent that is activated when the one before is gone is no violation") {
  World world{World::Later()};
  for (int round = 0; round < 2; ++round) {
    const OwnPuppet own(world);
    Puppet agent = world.agent();
    lead_to_ready(agent);
    own.write_line(R"({"type":"welcome","protocol":1})");
    own.write_line(R"({"type":"activate","clean":false})");
    agent.expect("welcome");
    agent.expect("activate");
  }

  CHECK(world.violations() == "");
}

TEST_CASE("messages that an agent must never get are caught") {
  puppet::Rules rules;

  CHECK(rules.hears(R"({"type":"welcome"})") == "a message before hello");
  rules.says(R"({"type":"hello","protocol":1})");
  CHECK(rules.hears(R"({"type":"stop"})") == "a message before welcome");
  CHECK(rules.hears(R"({"type":"welcome"})") == "");
  CHECK(rules.hears(R"({"type":"activate"})") == "activate before ready");
  rules.says(R"({"type":"ready"})");
  CHECK(rules.hears(R"({"type":"activate"})") == "a second activate");
  CHECK(rules.hears(R"({"type":"stop"})") == "");
  CHECK(rules.hears(R"({"type":"stop"})") == "a second stop without a cancel");
  CHECK(rules.hears("") == "a line that is no object");
  CHECK(rules.hears("{\"a\tb\"}") == "a control character in a line");
  CHECK(rules.hears("{" + std::string(65'534, ' ') + "}") == "a line over the limit");
  CHECK(rules.hears(R"({"type":"news"})") == "a type that is not on the page");
}

TEST_CASE("a type is found wherever it stands") {
  CHECK(puppet::type_of(R"({"type":"a"})") == "a");
  CHECK(puppet::type_of(R"({"text":"\"type\":\"b\"" , "type" : "a"})") == "a");
  CHECK(puppet::type_of(R"({"reason":"type"})") == "");
}

TEST_CASE("a process and its state are found in the process table") {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  while (state_of(pid) != 'Z')
    continue;

  CHECK(parent_of(pid) == getpid());
  CHECK(children_of(getpid()) == std::vector<pid_t>{pid});
  CHECK_FALSE(start_time_of(pid).empty());
  waitpid(pid, nullptr, 0);
  CHECK(state_of(pid) == '\0');
  CHECK(children_of(getpid()).empty());
}

TEST_CASE("the reader of lines is strict") {
  CHECK(Json::parse(R"({"type":"a","b":[1,{"c":null}],"d":true} )"));
  CHECK(Json::parse(R"({"text":"\u0001\n\"\\"})")->text("text") == "\x01\n\"\\");
  for (const char* wrong : {"", "{", "{}x", "{\"a\":1,\"a\":2}", "{\"a\":1.5}", "{\"a\":1e3}",
                            "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\" 1}", "[1,]",
                            "{\"a\":\"\t\"}", "{\"a\":tru}", "{'a':1}"}) {
    INFO(wrong);
    CHECK_FALSE(Json::parse(wrong));
  }
}

}  // namespace canary_test
