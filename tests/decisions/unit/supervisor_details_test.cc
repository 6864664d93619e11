// Tests the exact texts that the supervisor makes for agents and operators: reasons that are not
// longer than permitted, the message types that errors name, last messages of ended agents, and log
// lines that may be written only once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/bench.h"

namespace supervisor_details_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace agent_protocol;
using Catch::Matchers::StartsWith;

const std::string long_reason(3000, 'x');

std::string about_of(const Actions& actions) {
  const auto error = message_to<Error>(actions, 1);
  REQUIRE(error);
  return error->about.value_or("");
}

std::string loudness_of(const Actions& actions) {
  static const std::string names[]{"error", "warning", "info", "debug"};
  std::string all;
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<Log>(&action)) all += names[static_cast<int>(line->level)];
  }
  return all;
}

}  // namespace

TEST_CASE("an active agent that closes its output is worth a quiet line, its input a loud one") {
  Bench bench;
  bench.reach(Phase::running);

  const Actions output = bench.take(OutputClosed{1});
  const Actions input = bench.take(InputClosed{1});

  CHECK(log_of(output) == "generation 1 closed its output; it cannot confirm a stop\n");
  CHECK(log_of(input) ==
        "generation 1 no longer reads its input; a stop will not reach it, and will end with "
        "SIGKILL\n");
  CHECK(loudness_of(output) + loudness_of(input) == "debugwarning");
  CHECK(bench.take(OutputClosed{1}).empty());
  CHECK(bench.take(InputClosed{1}).empty());
}

TEST_CASE("an agent that was told to stop may close its input: it will be told no more") {
  Bench bench;
  bench.reach(Phase::switching);

  const Actions actions = bench.take(InputClosed{1});

  CHECK(log_of(actions) == "generation 1 no longer reads its input\n");
  CHECK(loudness_of(actions) == "debug");
}

TEST_CASE("an agent that has confirmed its stop closes its output without a word") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1);

  CHECK(bench.take(OutputClosed{1}).empty());
}

TEST_CASE("events of an agent that does not exist change nothing") {
  Bench bench;
  bench.reach(Phase::running);

  CHECK(bench.take(StrayReceived{9, "who?"}).empty());
  CHECK(bench.take(OutputClosed{9}).empty());
  CHECK(bench.take(InputClosed{9}).empty());
  CHECK(bench.take(MessageRefused{9, Unknown{"who"}}).empty());
}

TEST_CASE("a reason is cut to its limit wherever it is told") {
  Bench bench;
  bench.reach(Phase::switching);
  const Malformed anonymous{"upgrade", long_reason, std::nullopt};
  const Malformed named{"upgrade", long_reason, "u9"};

  const auto error = message_to<Error>(bench.take(MessageRefused{1, anonymous}), 1);
  const auto refused = message_to<UpgradeFailed>(bench.take(MessageRefused{1, named}), 1);
  const auto lost = message_to<CandidateLost>(bench.say(2, Unfit{long_reason}), 1);
  const auto ended = message_to<UpgradeFailed>(bench.take(StopRequested{}), 1);

  REQUIRE((error && refused && lost && ended));
  CHECK(error->reason.size() == reason_bytes_max);
  CHECK(refused->failure.reason.size() == reason_bytes_max);
  CHECK(refused->failure.stage == Stage::request);
  CHECK(lost->reason.size() == reason_bytes_max);
  CHECK(ended->failure.reason.size() == reason_bytes_max);
  CHECK_THAT(ended->failure.reason,
             StartsWith("the upgrader was told to stop; before that: unfit: xxx"));
}

TEST_CASE("a failure without an error of the system names none") {
  Bench bench;
  bench.reach(Phase::preparing);

  const auto told = message_to<UpgradeFailed>(bench.exit(2, 3), 1);

  REQUIRE(told);
  CHECK_FALSE(told->failure.errno_name);
}

TEST_CASE("an error says which type it is about") {
  Bench bench;
  bench.reach(Phase::switching);

  CHECK(about_of(bench.say(1, Hello{})) == "hello");
  CHECK(about_of(bench.say(1, Ready{})) == "ready");
  CHECK(about_of(bench.say(1, Unfit{""})) == "unfit");
  CHECK(about_of(bench.say(1, Healthy{})) == "healthy");
  CHECK(about_of(bench.say(1, Confirm{"u1"})) == "confirm");
  bench.stopped(1);
  CHECK(about_of(bench.stopped(1)) == "stopped");
  CHECK(about_of(bench.say(1, Cancel{"u1", {}})) == "cancel");
  CHECK(about_of(bench.say(1, Extend{60'000})) == "extend");
}

TEST_CASE("a candidate that is ready twice is told so") {
  Bench bench;
  bench.reach(Phase::confirming);

  const auto error = message_to<Error>(bench.say(2, Ready{}), 2);

  REQUIRE(error);
  CHECK(error->about == "ready");
  CHECK(error->reason == "ready was said already");
}

TEST_CASE("a supervisor that has not been started is starting, and needs no program") {
  const Supervisor fresh(Bench::default_policy());

  CHECK(fresh.phase() == Phase::starting);
  CHECK(fresh.programs().empty());
  CHECK_FALSE(fresh.next_deadline());
  CHECK(fresh.late(Time::max()).empty());
}

TEST_CASE("SIGQUIT before the start ends the upgrader, and nothing after it is heard") {
  Bench bench;

  const Actions first = bench.take(QuitRequested{});

  CHECK(bench.exit_status() == exit_quit);
  CHECK(log_of(first) == "told to quit at once\nthe upgrader ends with status 131\n");
}

TEST_CASE("after SIGQUIT no signal asks for the end again") {
  Bench bench;
  bench.reach(Phase::running);
  bench.take(QuitRequested{});

  CHECK(bench.take(QuitRequested{}).empty());
  CHECK(bench.take(StopRequested{}).empty());
}

TEST_CASE("the last status of an agent is shown, but not of one that never greeted") {
  Bench bench;
  bench.reach(Phase::preparing);

  CHECK(bench.last_word(2, Status{"bye"}).empty());
  CHECK(log_of(bench.last_word(1, Status{"bye"})) == "generation 1: bye\n");
}

TEST_CASE("a second hello among the last words changes nothing") {
  Bench bench;
  bench.start();
  bench.hello(1, "1.0");
  bench.say(1, Ready{});

  bench.last_word(1, Hello{1, "9.9", {}});

  CHECK_THAT(log_of(bench.exit(1, 3)),
             StartsWith("generation 1 (version 1.0) exited with status 3;"));
}

TEST_CASE("a second stopped among the last words leaves the first one's state") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1, "first");

  bench.last_word(1, Stopped{"second"});
  const auto activate = message_to<Activate>(bench.exit(1), 2);

  REQUIRE(activate);
  CHECK(activate->state == "first");
}

TEST_CASE("an agent on trial that dies unfit has failed for its own reason") {
  Bench bench;
  bench.reach(Phase::trial);
  bench.last_word(2, Unfit{"no disk"});

  bench.exit(2, 3);
  const auto welcome = message_to<Welcome>(bench.hello(3), 3);

  REQUIRE((welcome && welcome->failure));
  CHECK(welcome->failure->failure.reason == "unfit: no disk");
}

TEST_CASE("an agent that exits with 1 when told to stop leaves that status") {
  Bench bench;
  bench.reach(Phase::shutting_down);

  bench.exit(1, 1);

  CHECK(bench.exit_status() == 1);
}

TEST_CASE("the type that an error is about is cut to its limit") {
  Bench bench;
  bench.reach(Phase::running);

  const Actions actions = bench.take(MessageRefused{1, Unknown{std::string(100, 'x')}});

  CHECK(about_of(actions).size() == about_bytes_max);
}

TEST_CASE("the program that was asked for is checked") {
  Bench bench;
  bench.reach(Phase::running);
  Supervisor supervisor = bench.supervisor();
  Upgrade request;
  request.id = "u1";
  request.executable = "/opt/agent-v2";
  request.args = std::vector<std::string>{"-x", ""};

  const Actions actions = supervisor.step(MessageReceived{1, request, false}, bench.now());

  REQUIRE(actions.size() == 1);
  CHECK(actions.front() == Action{Check{request.executable, request.args, 1}});
}

TEST_CASE("a step handles one of two deadlines that are due, the candidate's first") {
  Bench bench;
  bench.reach(Phase::switching);
  const Time due = bench.state().incumbent->deadline.value_or(Time(0));
  Supervisor closed = bench.supervisor(), hung = bench.supervisor();
  (void)closed.step(OutputClosed{2}, due - close_grace);
  (void)hung.step(MessageReceived{2, Unfit{"broken"}, false}, due - killed_log_interval);

  const Actions of_closed = closed.step(DeadlinePassed{}, due);
  const Actions of_hung = hung.step(DeadlinePassed{}, due);

  CHECK(kills(of_closed) == std::vector<Generation>{2});
  CHECK(kills(of_hung).empty());
  CHECK(kills(closed.step(DeadlinePassed{}, due)) == std::vector<Generation>{1});
  CHECK(kills(hung.step(DeadlinePassed{}, due)) == std::vector<Generation>{1});
}

TEST_CASE("those are late whose own time is up") {
  State state;
  state.incumbent.emplace().generation = 1;
  state.candidate.emplace().generation = 2;
  const auto late = [&state] { return Supervisor(Bench::default_policy(), state).late(Time(10)); };
  using Generations = std::vector<Generation>;
  CHECK(late().empty());

  state.incumbent->deadline = Time(10);
  CHECK(late() == Generations{1});
  state.incumbent->deadline = Time(11);
  state.incumbent->close_deadline = Time(10);
  CHECK(late() == Generations{1});
  state.incumbent->close_deadline = Time(11);
  state.candidate->deadline = Time(10);
  CHECK(late() == Generations{2});
  state.candidate->deadline = Time(11);
  state.candidate->close_deadline = Time(10);
  CHECK(late() == Generations{2});
  state.candidate->close_deadline = Time(11);
  state.upgrade.emplace();
  CHECK(late().empty());
  state.upgrade->deadline = Time(10);
  CHECK(late() == Generations{1});
}

TEST_CASE("a stop that has no time left says a millisecond") {
  Bench crossing;
  crossing.reach(Phase::switching);
  crossing.take(StopRequested{});
  Supervisor late = crossing.supervisor();
  const Time deadline = crossing.state().incumbent->deadline.value_or(Time(0));

  const auto again =
      message_to<Stop>(late.step(MessageReceived{1, Cancel{"u1", {}}, false}, deadline), 1);

  REQUIRE(again);
  CHECK(again->deadline_ms == 1);
}

TEST_CASE("reasons that an agent gives are cut to what a message may hold") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2);
  bench.say(2, Unfit{std::string(1'024, 'x')});

  const auto told = message_to<UpgradeFailed>(bench.die(2, SIGKILL), 1);

  REQUIRE(told);
  CHECK(told->failure.reason.size() == reason_bytes_max);
}

}  // namespace supervisor_details_test
