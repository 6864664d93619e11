// Measures the longest pause of the active agent, first without an upgrade, and then while a
// candidate crashes, hangs or floods the upgrader with output. Prints the times, and does not check
// them, because a time on a shared machine proves nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <functional>

#include "tests/together/integration/world.h"

namespace pauses_test {

using namespace integration;

namespace {

constexpr int questions = 300;

long microseconds_of(const std::function<void()>& deed) {
  const auto begin = std::chrono::steady_clock::now();
  deed();
  const auto end = std::chrono::steady_clock::now();
  return static_cast<long>(
      std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count());
}

// Calls `meanwhile`, then lets the active agent ask the upgrader one question after the other.
// Prints the longest pause of the agent during all this, and the longest time until an answer. The
// agent records the time every millisecond, to find its pauses.
void report(const char* name, Puppet active, const std::function<void()>& meanwhile) {
  long longest_answer = 0;
  active.pulse();
  meanwhile();
  for (int count = 0; count < questions; ++count) {
    longest_answer = std::max(longest_answer, microseconds_of([&] { active.expect_silence(); }));
  }
  const long longest_pause = active.pulse();
  CHECK(longest_pause > 0);
  std::printf("longest pause of the active agent %7.1f ms, longest answer %7.1f ms: %s\n",
              static_cast<double>(longest_pause) / 1'000,
              static_cast<double>(longest_answer) / 1'000, name);
}

}  // namespace

TEST_CASE("the active agent's longest pause, with candidates good and bad") {
  World world;
  Puppet active = world.first();

  report("without any upgrade", active, [] {});
  report("a candidate crashes", active, [&] {
    world.begin_upgrade(active).kill(11);
    CHECK(active.expect("upgrade_failed").text("stage") == "start");
  });
  Puppet hanging = active;
  report("a candidate hangs", active, [&] { hanging = world.begin_upgrade(active); });
  active.say_type("cancel", R"("id":"u1")");
  active.expect("upgrade_failed");
  hanging.expect_gone();
  Puppet flooding = active;
  report("a candidate floods", active, [&] {
    flooding = world.begin_upgrade(active);
    flooding.flood("{\"type\":\"status\",\"text\":\"flood\"}");
  });
  active.say_type("cancel", R"("id":"u1")");
  active.expect("upgrade_failed");
  flooding.expect_gone();
}

}  // namespace pauses_test
