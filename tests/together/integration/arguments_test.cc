// Tests that arguments reach an agent byte for byte: see UPGRADES in agent-protocol(7).
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace arguments_test {

using namespace integration;

namespace {

Texts odd_arguments() {
  return {"",      " ",   "a b",  "--trial=0", "-",          "--",     "\t\n", "\"quoted\"",
          "$HOME", "*",   "\\n",  "caf\u00e9", "\U0001f600", "\x7f",   "'",    ";exit 1",
          "",      "a=b", "\x01", "%s%n",      "\u2028",     "\ufeff", "#!",   ""};
}

std::string array_of(const Texts& texts) {
  std::string array = "[";
  for (const std::string& text : texts)
    array += (array.size() > 1 ? "," : "") + json_quoted(text);
  return array + "]";
}

Texts with_name(const std::string& name, const Texts& arguments) {
  Texts result = {name};
  result.insert(result.end(), arguments.begin(), arguments.end());
  return result;
}

}  // namespace

TEST_CASE("the command line's arguments reach the first agent byte for byte") {
  Texts arguments = odd_arguments();
  arguments.emplace_back("not UTF-8: \xff\xfe\x80");
  World world(Start{.args = arguments});

  CHECK(world.agent().argv() == with_name(World::puppet(), arguments));
}

TEST_CASE("an upgrade without args repeats those of the active agent, byte for byte") {
  Texts arguments = odd_arguments();
  arguments.emplace_back("not UTF-8: \xff\xfe\x80");
  World world(Start{.args = arguments});
  Puppet first = world.first();

  Puppet next = world.hand_over(first);

  CHECK(next.argv() == with_name(World::puppet(), arguments));
  next.exit(1);
  CHECK(world.fallback().argv() == with_name(World::puppet(), arguments));
}

TEST_CASE(
    "the args of an upgrade reach the candidate byte for byte, and the fallback has its own") {
  World world(Start{.args = {"first", "\xff"}});
  Puppet first = world.first();

  Puppet next = world.hand_over(first, "\"args\":" + array_of(odd_arguments()));

  CHECK(next.argv() == with_name(World::puppet(), odd_arguments()));
  next.exit(1);
  CHECK(world.fallback().argv() == Texts{World::puppet(), "first", "\xff"});
}

TEST_CASE("an empty list of args is a list") {
  World world(Start{.args = {"first"}});
  Puppet first = world.first();

  CHECK(world.begin_upgrade(first, R"("args":[])").argv() == Texts{World::puppet()});
}

TEST_CASE("1,000 arguments reach the first agent, the candidate and the fallback") {
  Texts arguments;
  for (int count = 0; count < 1'000; ++count)
    arguments.push_back("argument " + std::to_string(count));
  World world(Start{.args = arguments});
  Puppet first = world.first();
  std::reverse(arguments.begin(), arguments.end());

  Puppet next = world.hand_over(first, "\"args\":" + array_of(arguments));
  next.exit(1);
  Puppet back = world.fallback();

  CHECK(next.argv() == with_name(World::puppet(), arguments));
  std::reverse(arguments.begin(), arguments.end());
  CHECK(first.argv() == with_name(World::puppet(), arguments));
  CHECK(back.argv() == with_name(World::puppet(), arguments));
}

TEST_CASE("1,024 args are the most that an upgrade can bring; the command line has no such limit") {
  World world(Start{.args = Texts(1'025, "x")});
  Puppet first = world.first();
  first.request_upgrade("u1", "\"args\":" + array_of(Texts(1'025, "x")));
  CHECK(first.expect("upgrade_failed").text("stage") == "request");
  Puppet most = world.begin_upgrade(first, "\"args\":" + array_of(Texts(1'024, "x")));
  CHECK(most.argv() == with_name(World::puppet(), Texts(1'024, "x")));
  first.say_type("cancel", R"("id":"u1")");
  first.expect("upgrade_failed");

  Puppet same = world.begin_upgrade(first);

  CHECK(same.argv() == with_name(World::puppet(), Texts(1'025, "x")));
}

TEST_CASE("argv[0] is AGENT or the executable as given, and a fallback repeats its own") {
  World world{World::Later()};
  const std::string copy = world.install("copy");
  const std::string odd = world.path(".//copy");
  world.start({.agent = odd});
  Puppet first = world.first();
  first.request_upgrade("u1", "", copy);
  first.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  first.stop_cleanly();
  next.expect("activate");
  next.exit(1);

  Puppet back = world.fallback();

  CHECK(first.argv() == Texts{odd});
  CHECK(next.argv() == Texts{copy});
  CHECK(back.argv() == Texts{odd});
}

TEST_CASE("arguments behind AGENT on the command line are the agent's") {
  World world(
      Start{.options = {World::puppet(), "--trial=0", "--nonsense", "--", "-h"}, .agent = "-"});

  CHECK(world.agent().argv() == Texts{World::puppet(), "--trial=0", "--nonsense", "--", "-h"});
}

}  // namespace arguments_test
