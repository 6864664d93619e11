// What an operator reads in the log when the upgrader ends or an agent takes its work back, and
// what an agent is told of why it was refused or has failed.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/bench.h"

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace agent_protocol;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

std::string lines_of(const Actions& actions, LogLevel level) {
  std::string lines;
  for (const Action& action : actions) {
    const auto* line = std::get_if<Log>(&action);
    if (line != nullptr && line->level == level) lines += line->text + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("the crash of the active agent is an error that says what the upgrader exits with") {
  Bench bench;
  bench.reach(Phase::running);

  const Actions actions = bench.die(1, 11);

  CHECK(lines_of(actions, LogLevel::error) ==
        "generation 1 was killed by signal 11 (SIGSEGV); the upgrader ends with status 139\n");
  CHECK(lines_of(actions, LogLevel::info).empty());
  CHECK(bench.exit_status() == 139);
}

TEST_CASE("an active agent that exits with status 0 ends the upgrader with a warning") {
  Bench bench;
  bench.reach(Phase::running);

  const Actions actions = bench.exit(1, 0);

  CHECK(lines_of(actions, LogLevel::warning) ==
        "generation 1 exited with status 0; the upgrader ends with status 0\n");
  CHECK(lines_of(actions, LogLevel::error).empty());
}

TEST_CASE("whatever makes the upgrader end by itself is an error with the status") {
  Bench late, fallback, refused;
  late.start();
  fallback.reach(Phase::falling_back);
  refused.next_spawn_fails("EACCES");

  CHECK(lines_of(late.wait(5min), LogLevel::error) ==
        "generation 1 failed: not ready within 5m; the upgrader ends with status 125\n");
  CHECK(lines_of(fallback.exit(3, 4), LogLevel::error) ==
        "generation 3 failed: exited with status 4 before it was ready; the upgrader ends with "
        "status 125\n");
  CHECK(lines_of(refused.start(), LogLevel::error) ==
        "the test wants it so; the upgrader ends with status 126\n");
}

TEST_CASE("an end that was asked for is an error only where its status is not 0") {
  Bench clean, unclean, quit;
  for (Bench* bench : {&clean, &unclean, &quit})
    bench->reach(Phase::running);
  clean.take(StopRequested{});
  clean.stopped(1);
  unclean.take(StopRequested{});
  quit.take(QuitRequested{});

  CHECK_THAT(lines_of(clean.exit(1), LogLevel::info),
             Contains("the upgrader ends with status 0\n"));
  CHECK(lines_of(unclean.die(1, 9), LogLevel::error) ==
        "generation 1 was killed by signal 9 (SIGKILL) without having confirmed its stop\n"
        "the upgrader ends with status 137\n");
  CHECK(lines_of(quit.die(1, 9), LogLevel::error) == "the upgrader ends with status 131\n");
}

TEST_CASE("a first agent that exits while held has failed, with status 125 where its own is 0") {
  const int status = GENERATE(0, 1, 3);
  const bool ready_to_speak = GENERATE(false, true);
  Bench bench;
  bench.start();
  if (ready_to_speak) bench.hello(1);

  const Actions actions = bench.exit(1, status);

  CHECK(bench.exit_status() == (status == 0 ? 125 : status));
  CHECK_THAT(lines_of(actions, LogLevel::error),
             Contains("failed: exited with status " + std::to_string(status)));
}

TEST_CASE("the log says that an old agent has taken its work back, and its reason") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.die(2, 11);

  const Actions actions = bench.say(1, Cancel{"u1", "my files are still open"});

  CHECK(lines_of(actions, LogLevel::info) ==
        "generation 1 has taken its work back, and stays active: my files are still open\n");
  CHECK(bench.phase() == Phase::running);
}

TEST_CASE("an old agent that takes its work back without a reason is told of all the same, once") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.say(2, Unfit{"no disk"});

  const Actions first = bench.say(1, Cancel{"u1", std::nullopt});
  const Actions again = bench.say(1, Cancel{"u1", std::nullopt});

  CHECK(lines_of(first, LogLevel::info) ==
        "generation 1 has taken its work back, and stays active\n");
  CHECK(log_of(again).empty());
}

TEST_CASE("an agent that is being rolled back is told that it is too late to be healthy") {
  Bench bench;
  bench.reach(Phase::rolling_back);

  const Actions rolled_back = bench.say(2, Healthy{});
  Bench running;
  running.reach(Phase::running);
  const Actions never = running.say(1, Healthy{});

  CHECK(message_to<Error>(rolled_back, 2)->reason == "it is being rolled back");
  CHECK(message_to<Error>(never, 1)->reason == "it is not on trial");
}
