// Tests the supervisor's decisions at a boot: about a first agent that fails, about the start of
// the previous program instead (--previous), and about the count of failed starts (--attempts).
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/bench.h"

namespace supervisor_boot_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;
using agent_protocol::FallbackMode;
using agent_protocol::Hello;
using agent_protocol::Ready;

Policy with_way_back() {
  Policy policy = Bench::default_policy();
  policy.previous = true;
  return policy;
}

Policy counting() {
  Policy policy = Bench::default_policy();
  policy.attempts = true;
  return policy;
}

int forgotten(const Actions& actions) {
  int count = 0;
  for (const Action& action : actions)
    count += std::holds_alternative<ForgetAttempts>(action) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("the way back is a parallel upgrade without gate, which has passed when it survives") {
  Policy policy = with_way_back();
  policy.defaults.mode = agent_protocol::Mode::sequential;
  policy.defaults.gate = agent_protocol::Gate::confirm;
  policy.defaults.commit = agent_protocol::CommitRule::healthy;
  policy.defaults.fallback = FallbackMode::warm;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 1);

  const Terms& terms = bench.state().upgrade->terms;
  CHECK(terms.mode == agent_protocol::Mode::parallel);
  CHECK(terms.gate == agent_protocol::Gate::none);
  CHECK(terms.commit == agent_protocol::CommitRule::survive);
  const std::vector<ProgramId> programs = bench.supervisor().programs();
  CHECK(std::set<ProgramId>(programs.begin(), programs.end()) ==
        std::set<ProgramId>{bench.state().incumbent->program});

  CHECK(spawns(bench.ready(2)).empty());
  bench.wait(30s);
  CHECK(bench.phase() == Phase::running);
  CHECK(bench.state().last_failure->id == "boot");
}

TEST_CASE("while the way back is looked for and started, the upgrader is falling back") {
  Bench bench(with_way_back());
  std::set<Phase> phases;
  bench.have_watched(
      [&](const auto&, const auto&, const State& state) { phases.insert(phase_of(state)); });

  bench.take(StartRefused{{"no such file", ENOENT}, 127});

  CHECK(phases == std::set<Phase>{Phase::falling_back});
}

TEST_CASE("a start that is refused after the upgrader has begun changes nothing") {
  Bench bench;
  bench.start();
  const State before = bench.state();

  CHECK(bench.take(StartRefused{{"no such file", ENOENT}, 127}).empty());
  CHECK(bench.state() == before);
}

TEST_CASE("a fallback at boot that has no trial has a stop's time to read its activate") {
  Policy policy = with_way_back();
  policy.defaults.trial = 0s;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 1);
  bench.next_activate(Sent::waits);
  bench.ready(2);

  CHECK(bench.state().incumbent->deadline == bench.now() + 90s);
}

TEST_CASE("where starts are not counted, no count is forgotten") {
  Bench bench(with_way_back());
  bench.reach(Phase::running);

  CHECK(forgotten(bench.wait(30s)) == 0);
  CHECK(bench.state().start_is_judged);
}

TEST_CASE("without a way back and a count of starts, nothing of either is kept") {
  Bench bench;
  bench.reach(Phase::trial);
  bench.wait(30s);

  CHECK(bench.phase() == Phase::running);
  CHECK_FALSE(bench.state().start_is_judged);
}

TEST_CASE("attempts are forgotten when an agent has lasted, and once") {
  Bench bench(counting());
  bench.start();
  Actions all = bench.ready(1);
  (void)bench.take(DeadlinePassed{});
  CHECK(bench.supervisor().late(bench.now() + 30s) == std::vector<Generation>{1});
  CHECK(bench.supervisor().late(bench.now() + 29s).empty());
  CHECK(forgotten(all) + forgotten(bench.take(DeadlinePassed{})) + forgotten(bench.wait(29s)) == 0);
  CHECK(forgotten(bench.wait(1s)) == 1);
  CHECK(forgotten(bench.wait(10min)) == 0);
}

TEST_CASE("an agent is told to stop before files are synced, by SIGTERM, and killed by SIGQUIT") {
  const bool quits = GENERATE(false, true);
  Policy policy = counting();
  policy.relink = true;
  Bench bench(policy);
  bench.start();
  bench.ready(1);
  bench.take(UpgradeRequested{});

  const std::vector<std::string> done =
      summary(quits ? bench.take(QuitRequested{}) : bench.take(StopRequested{}));

  const auto place_of = [&done](const std::string& deed) {
    return std::find_if(done.begin(), done.end(),
                        [&deed](const auto& line) { return line.find(deed) == 0; });
  };
  REQUIRE(place_of("restore link") != done.end());
  CHECK(place_of(quits ? "kill 1" : "send 1 stop shutdown") < place_of("restore link"));
  CHECK(place_of("kill 2") < place_of("restore link"));
  if (quits) return;
  REQUIRE(place_of("forget attempts") != done.end());
  CHECK(place_of("send 1 stop shutdown") < place_of("forget attempts"));
}

TEST_CASE("without a trial attempts are forgotten as soon as an agent is active, and once") {
  Policy policy = counting();
  policy.defaults.trial = 0s;
  Bench bench(policy);
  bench.start();

  CHECK(forgotten(bench.ready(1)) == 1);
  CHECK(forgotten(bench.wait(10min)) == 0);
}

TEST_CASE("an agent that has gone did not last, and a fallback in its place may") {
  Bench bench(counting());
  bench.start();
  bench.ready(1);
  bench.wait(20s);
  bench.upgrade();
  bench.ready(2);
  bench.stopped(1);
  bench.exit(1);
  CHECK(forgotten(bench.wait(15s)) == 0);

  bench.die(2, 11);
  CHECK(forgotten(bench.ready(3)) == 0);
  CHECK(forgotten(bench.wait(29s)) == 0);
  CHECK(forgotten(bench.wait(1s)) == 1);
}

TEST_CASE("an agent that is killed did not last, however long its process takes to end") {
  Policy policy = counting();
  policy.defaults.start_timeout = 25s;
  Bench bench(policy);
  bench.start();
  bench.say(1, Hello{.version = std::nullopt, .features = {"readiness"}});
  bench.say(1, Ready{});

  CHECK(kills(bench.wait(25s)).size() == 1);
  CHECK(forgotten(bench.wait(1min)) == 0);
  bench.exit(1);
  CHECK(bench.phase() == Phase::ended);
  CHECK_FALSE(bench.state().proved_good);
}

TEST_CASE("a count that was due while nobody ran is put off like every deadline") {
  Bench bench(counting());
  bench.start();
  bench.ready(1);

  CHECK(forgotten(bench.freeze(1min)) == 0);
  CHECK(forgotten(bench.wait(10s)) == 1);
}

TEST_CASE("the gate's time and the count of attempts are judged in a step each") {
  Bench bench(counting());
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{
      .id = "u1", .gate = agent_protocol::Gate::confirm, .confirm_timeout_ms = 30'000});
  bench.ready(2);
  bool both = false;
  bench.have_watched([&](const auto&, const Actions& actions, const auto&) {
    both = both || (forgotten(actions) > 0 && !kills(actions).empty());
  });

  CHECK(forgotten(bench.wait(30s)) == 1);
  CHECK(bench.phase() == Phase::abandoning);
  CHECK_FALSE(both);
}

}  // namespace supervisor_boot_test
