// Tests the texts that the supervisor makes for agents and operators. Among them are the reasons of
// refusals and failures, with their maximum length. Others are log lines about the upgrader's exit
// and about an old agent that takes its work back. Also tests the message types in `error`
// messages, the last messages of agents that have exited, and log lines that may be written only
// once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/bench.h"

namespace supervisor_says_test {

// ---- texts and log lines in rare situations, and texts that are cut to their maximum length

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace agent_protocol;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
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
  Upgrade request{
      .id = "u1", .executable = "/opt/agent-v2", .args = std::vector<std::string>{"-x", ""}};

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

// ---- log lines about the upgrader's exit, and the reasons in refusals and failures

namespace {

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
  late.hello(1);
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

TEST_CASE(
    "an end that was asked for while the upgrader ended by itself has one status, and says so") {
  const bool quits = GENERATE(false, true);
  Bench bench;
  bench.start();
  bench.hello(1);
  CHECK(log_of(bench.say(1, agent_protocol::Unfit{"no disk"})).find("status 125") !=
        std::string::npos);
  if (quits) {
    bench.take(QuitRequested{});
  } else {
    bench.take(StopRequested{});
  }

  const std::string told = log_of(bench.die(1, SIGKILL));

  CHECK(told.find(quits ? "told to quit before that: the upgrader ends with status 131, and not "
                          "with 125"
                        : "told to stop before that: the upgrader ends with status 0, and not "
                          "with 125") != std::string::npos);
  CHECK(bench.exit_status() == (quits ? 131 : 0));
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

TEST_CASE("an agent that extended its start is told what it was allowed in all") {
  Bench bench;
  bench.reach(Phase::running);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .start_timeout_ms = 5'000});
  bench.hello(2);
  bench.wait(2s);
  bench.say(2, Extend{1'000});  // has no effect, since the agent still has 3 s
  bench.say(2, Extend{62'500});

  const Actions late = bench.wait(62'500ms);
  const Actions gone = bench.die(2, 9);

  CHECK(message_to<UpgradeFailed>(gone, 1)->failure.reason ==
        "not ready within 65s in all, extended from 5s");
  CHECK_THAT(lines_of(late, LogLevel::warning), Contains("within 65s in all, extended from 5s;"));
}

TEST_CASE("an agent that extended its stop, and an upgrade that failed so, tell of all its time") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.wait(80s);
  bench.say(1, Extend{40'000});

  const Actions late = bench.wait(40s);
  const Actions gone = bench.die(1, 9);

  CHECK(lines_of(late, LogLevel::warning) ==
        "generation 1 has not stopped within 2m in all, extended from 90s; killing it\n");
  CHECK_THAT(lines_of(gone, LogLevel::warning),
             Contains("the active agent did not stop within 2m in all, extended from 90s"));
}

TEST_CASE("a stop that goes on for another reason has what it had, and a new one nothing of it") {
  Bench goes_on;
  goes_on.reach(Phase::switching);
  goes_on.say(1, Extend{100'000});
  goes_on.take(StopRequested{});
  goes_on.say(1, Cancel{"u1", std::nullopt});
  goes_on.die(2, 9);
  Bench anew;
  anew.reach(Phase::switching);
  anew.say(1, Extend{100'000});
  anew.say(1, Cancel{"u1", std::nullopt});
  anew.die(2, 9);
  anew.take(StopRequested{});

  CHECK_THAT(lines_of(goes_on.wait(100s), LogLevel::warning),
             Contains("has not stopped within 100s in all, extended from 90s;"));
  CHECK_THAT(lines_of(anew.wait(90s), LogLevel::warning), Contains("has not stopped within 90s;"));
}

TEST_CASE("an agent that does not say hello for five seconds is told of once, with what it means") {
  Policy policy = Bench::default_policy();
  policy.defaults.start_timeout = Duration(0);
  const bool closed = GENERATE(false, true);
  Bench bench(policy);
  bench.reach(Phase::running);
  bench.upgrade();

  CHECK(bench.wait(4'999ms).empty());
  CHECK(bench.supervisor().late(bench.now() + 1ms) == std::vector<Generation>{2});
  const Actions told = bench.wait(1h);
  CHECK_FALSE(bench.supervisor().next_deadline());
  if (closed) bench.take(OutputClosed{2});
  const Actions failed = closed ? bench.wait(close_grace) : bench.exit(2, 3);

  CHECK(log_of(told) ==
        "generation 2 has not said hello for 5s; it may not speak agent-protocol(7); "
        "--adapter=agentify runs programs that do not\n");
  CHECK(lines_of(told, LogLevel::warning) == log_of(told));
  CHECK_THAT(log_of(failed),
             Contains(closed ? "closed its output before it was activated; it never said hello, "
                               "so it may not speak agent-protocol(7); "
                               "--adapter=agentify runs programs that do not; upgrade u1"
                             : "exited with status 3 before it was ready; it never said hello, "
                               "so it may not speak agent-protocol(7); "
                               "--adapter=agentify runs programs that do not; upgrade u1"));
}

TEST_CASE("an agent that says hello in time, or late, or ends at once, gets no such hint") {
  Bench in_time, late, crashed;
  for (Bench* bench : {&in_time, &late, &crashed})
    bench->start();
  in_time.wait(4s);
  in_time.hello(1);
  late.wait(6s);
  late.hello(1);

  for (Bench* bench : {&in_time, &late, &crashed}) {
    CHECK(bench->wait(bench == &crashed ? 1s : 1min).empty());
    CHECK_THAT(log_of(bench->exit(1, 3)),
               StartsWith("generation 1 failed: exited with status 3 before it was ready; the "));
  }
}

TEST_CASE("a first agent that is not ready in time is told what its silence may mean") {
  Policy policy = Bench::default_policy();
  policy.defaults.start_timeout = 2s;
  Bench bench(policy);
  bench.start();

  CHECK_THAT(log_of(bench.wait(2s)),
             Contains("not ready within 2s; it never said hello, so it may not speak"));
}

TEST_CASE("nobody is told of the silence of an agent that is killed or was asked to end") {
  Bench killed, asked;
  killed.reach(Phase::preparing);
  killed.say(1, Cancel{"u1", std::nullopt});
  asked.start();
  asked.take(StopRequested{});

  CHECK(log_of(killed.wait(6s)).empty());
  CHECK(log_of(asked.wait(6s)).empty());
}

}  // namespace supervisor_says_test
