// Tests the members of `upgrade`, their limits and their defaults: see UPGRADES in
// agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace upgrade_members_test {

using namespace integration;

namespace {

// Checks that a request with these members is refused as malformed, and starts nothing.
void expect_malformed(World& world, Puppet active, const std::string& members) {
  INFO(members);
  active.request_upgrade("u1", members);
  const Json failed = active.expect("upgrade_failed");
  CHECK(failed.text("id") == "u1");
  CHECK(failed.text("stage") == "request");
  CHECK_FALSE(failed.text("reason").empty());
  CHECK_FALSE(failed.text("reason").starts_with("busy"));
  CHECK(failed.members() == Texts{"id", "reason", "stage"});
  active.expect_silence();
  CHECK(world.agents_started() == 1);
}

// Checks that a request with these members is accepted. Then cancels the upgrade.
void expect_accepted(World& world, Puppet active, const std::string& members) {
  INFO(members);
  Puppet next = world.begin_upgrade(active, members);
  active.say_type("cancel", R"("id":"u1")");
  active.expect("upgrade_failed");
}

}  // namespace

TEST_CASE("an upgrade without a well-formed id is answered with error") {
  World world;
  Puppet active = world.first();
  const std::string executable = "\"executable\":" + json_quoted(World::puppet());

  for (const std::string& id : std::initializer_list<std::string>{
           "", R"("id":"",)", R"("id":5,)", R"("id":null,)", R"("id":"caf\u00e9",)",
           R"("id":"a\u007f",)", R"("id":"a\nb",)", R"("id":"a\u0000",)", R"("id":"a","id":"a",)",
           "\"id\":" + json_quoted(std::string(65, 'i')) + ","}) {
    INFO(id);
    active.say_type("upgrade", id + executable);
    active.expect_error("upgrade");
  }

  active.expect_silence();
  CHECK(world.agents_started() == 1);
}

TEST_CASE("an id has up to 64 bytes of printable ASCII") {
  const std::string id = GENERATE(as<std::string>(), "x", " ", "\"\\/~!", std::string(64, 'i'));
  World world;
  Puppet active = world.first();

  active.request_upgrade(id);

  CHECK(active.expect("accepted").text("id") == id);
}

TEST_CASE("an executable is required, absolute, and of at most 4,095 bytes") {
  World world;
  Puppet active = world.first();
  std::string longest = World::puppet();
  longest.insert(0, std::string(4'095 - longest.size(), '/'));

  for (const std::string& member : std::initializer_list<std::string>{
           "", R"(,"executable":"")", R"(,"executable":"puppet")", R"(,"executable":"./puppet")",
           R"(,"executable":null)", R"(,"executable":["/bin/sh"])", R"(,"executable":"/a\u0000b")",
           ",\"executable\":" + json_quoted("/" + longest),
           ",\"executable\":" + json_quoted(longest) + ",\"executable\":" + json_quoted(longest)}) {
    INFO(member);
    active.say_type("upgrade", "\"id\":\"u1\"" + member);
    CHECK(active.expect("upgrade_failed").text("stage") == "request");
  }
  active.expect_silence();
  CHECK(world.agents_started() == 1);

  active.request_upgrade("u1", "", longest);
  active.expect("accepted");
  CHECK(world.agent().argv() == Texts{longest});
}

TEST_CASE("a malformed member refuses the upgrade, whichever it is") {
  World world;
  Puppet active = world.first();

  for (const char* members : {
           R"("args":"a")",
           R"("args":[1])",
           R"("args":null)",
           R"("args":["a",null])",
           R"("args":["a\u0000b"])",
           R"("args":["\ud800"])",
           R"("args":[],"args":[])",
           R"("mode":"fast")",
           R"("mode":"Parallel")",
           R"("mode":"")",
           R"("mode":1)",
           R"("mode":null)",
           R"("gate":"open")",
           R"("gate":true)",
           R"("commit":"now")",
           R"("commit":0)",
           R"("on_unclean_stop":"ignore")",
           R"("on_unclean_stop":null)",
           R"("mode":"sequential","gate":"confirm")",
           R"("commit":"healthy","trial_ms":0)",
           R"("mode":"parallel","mode":"parallel")",
       }) {
    expect_malformed(world, active, members);
  }
}

TEST_CASE("a timeout is a whole number of milliseconds, up to a day") {
  World world;
  Puppet active = world.first();

  for (const char* name :
       {"start_timeout_ms", "confirm_timeout_ms", "stop_timeout_ms", "trial_ms"}) {
    for (const char* value : {"-1", "86400001", "1.5", "1.0", "1e3", "\"5\"", "null", "true", "[]",
                              "18446744073709551616", "-9223372036854775809"}) {
      expect_malformed(world, active, json_quoted(name) + ":" + value);
    }
  }
  expect_malformed(world, active, R"("stop_timeout_ms":0)");
}

TEST_CASE("a timeout at its limits is well formed") {
  World world;
  Puppet active = world.first();

  expect_accepted(world, active, R"("start_timeout_ms":0,"confirm_timeout_ms":0,"trial_ms":0)");
  expect_accepted(world, active, R"("start_timeout_ms":86400000,"confirm_timeout_ms":86400000)");
  expect_accepted(world, active, R"("stop_timeout_ms":86400000,"trial_ms":86400000)");
  expect_accepted(world, active, R"("stop_timeout_ms":1)");
}

TEST_CASE("every member may be given at once, and unknown ones are ignored") {
  World world;
  Puppet active = world.first();

  expect_accepted(
      world, active,
      R"("args":["x"],"mode":"parallel","gate":"none","commit":"healthy","start_timeout_ms":60000,)"
      R"("confirm_timeout_ms":1,"stop_timeout_ms":60000,"trial_ms":1,)"
      R"("on_unclean_stop":"continue","colour":"red","priority":null)");
}

TEST_CASE("members are judged together with the defaults that fill the absent ones") {
  SECTION("gate confirm where the option's mode is sequential") {
    World world({"--mode=sequential"});
    Puppet active = world.first();
    expect_malformed(world, active, R"("gate":"confirm")");
    active.request_upgrade("u1", R"("gate":"confirm","mode":"parallel")");
    active.expect("accepted");
  }
  SECTION("commit healthy where the option's trial is 0") {
    World world({"--trial=0"});
    Puppet active = world.first();
    expect_malformed(world, active, R"("commit":"healthy")");
    active.request_upgrade("u1", R"("commit":"healthy","trial_ms":1)");
    active.expect("accepted");
  }
  SECTION("gate none where the option's mode is sequential") {
    World world({"--mode=sequential"});
    Puppet active = world.first();
    active.request_upgrade("u1", R"("gate":"none")");
    active.expect("accepted");
  }
}

TEST_CASE("an upgrade has the stop timeout that it asks for, or the option's") {
  World world({"--stop-timeout=20s"});
  Puppet active = world.first();
  const bool own = GENERATE(true, false);
  Puppet next = world.ready_candidate(active, own ? R"("stop_timeout_ms":40000)" : "");

  const std::int64_t left = active.expect("stop").number("deadline_ms");

  CHECK(left <= (own ? 40'000 : 20'000));
  CHECK(left > (own ? 20'000 : 10'000));
}

TEST_CASE("an upgrade has the trial that it asks for, or the option's") {
  const bool own = GENERATE(true, false);
  World world({own ? "--trial=1h" : "--trial=50ms"});

  Puppet next = world.hand_over(world.first(), own ? R"("trial_ms":50)" : "");

  next.expect("committed");
}

TEST_CASE("an upgrade that was refused may be asked for again, better") {
  World world;
  Puppet active = world.first();
  expect_malformed(world, active, R"("mode":"fast")");

  expect_accepted(world, active, R"("mode":"parallel")");
}

}  // namespace upgrade_members_test
