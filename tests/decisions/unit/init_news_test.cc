// Tests init_news() in every phase. From the supervisor's state, this function takes the facts that
// init must learn, such as whether an agent is active.
#include "upgrader/core/init_news.h"

#include <catch2/catch.hpp>

#include "tests/support/bench.h"

namespace init_news_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

struct Told {
  Phase phase;
  bool active;
  bool stopping;
  const char* status;
  std::optional<Duration> left;  // the time until the deadline of this phase, if it has one
};

const Told all_told[]{
    {Phase::starting, false, false, "starting generation 1", 5min},
    {Phase::running, true, false, "running generation 1", std::nullopt},
    {Phase::preparing, true, false, "running generation 1; upgrade u1: starting 2.0 (generation 2)",
     5min},
    {Phase::confirming, true, false, "running generation 1; upgrade u1 waits to be confirmed",
     std::nullopt},
    {Phase::switching, true, false, "stopping generation 1; upgrade u1", 90s},
    {Phase::replacing, false, false, "starting 2.0 (generation 2); upgrade u1, nobody is active",
     5min},
    {Phase::trial, true, false, "running generation 2; upgrade u1 on trial", 30s},
    {Phase::abandoning, true, false, "running generation 1; upgrade u1 has failed", std::nullopt},
    {Phase::rolling_back, true, false, "stopping generation 2; upgrade u1 has failed, rolling back",
     90s},
    {Phase::falling_back, false, false,
     "starting generation 3; upgrade u1 has failed, falling back", 5min},
    {Phase::shutting_down, true, true, "stopping generation 1", 90s},
    {Phase::ended, false, true, "stopping", std::nullopt},
};

InitWait waits_to(InitWait::What what, Generation generation, Time deadline,
                  bool extended = false) {
  return {what, generation, deadline, extended};
}

}  // namespace

TEST_CASE("init is told that an agent with readiness works when that has said so") {
  Bench bench;
  bench.reach(Phase::starting);
  bench.say(1, agent_protocol::Hello{.version = std::nullopt, .features = {"readiness"}});
  bench.say(1, agent_protocol::Ready{});
  REQUIRE(bench.supervisor().phase() == Phase::running);

  const InitNews before = init_news(bench.state());
  CHECK_FALSE(before.active);
  CHECK(before.status == "starting generation 1");
  CHECK(before.until == bench.now() + 5min);
  CHECK(before.wait == waits_to(InitWait::What::ready, 1, bench.now() + 5min, true));

  bench.say(1, agent_protocol::Extend{600'000});
  CHECK(init_news(bench.state()).wait ==
        waits_to(InitWait::What::ready, 1, bench.now() + 10min, true));

  bench.say(1, agent_protocol::Healthy{});
  const InitNews after = init_news(bench.state());
  CHECK(after.active);
  CHECK(after.status == "running generation 1");
  CHECK_FALSE(after.until);
  CHECK_FALSE(after.wait);
}

TEST_CASE("init is told in every phase who is active, whether it stops, and how it stands") {
  for (const Told& told : all_told) {
    Bench bench;
    bench.reach(told.phase);
    const bool starts = told.phase == Phase::preparing || told.phase == Phase::replacing;
    if (starts) bench.hello(2, "2.0");

    const InitNews news = init_news(bench.state());

    INFO(name_of(told.phase));
    CHECK(news.active == told.active);
    CHECK(news.stopping == told.stopping);
    CHECK(news.vouched);
    CHECK(news.status == told.status);
    CHECK(news.until.has_value() == told.left.has_value());
    if (told.left) CHECK(news.until == bench.now() + *told.left);
  }
}

TEST_CASE("the status has the version, where it is known, and the gate's time, where it has one") {
  Bench bench;
  bench.start();
  bench.hello(1, "v1");
  CHECK(init_news(bench.state()).status == "starting v1 (generation 1)");
  bench.say(1, agent_protocol::Ready{});
  bench.upgrade(agent_protocol::Upgrade{
      .id = "u7", .gate = agent_protocol::Gate::confirm, .confirm_timeout_ms = 7'000});
  bench.ready(2);

  CHECK(init_news(bench.state()).status ==
        "running v1 (generation 1); upgrade u7 waits to be confirmed");
  CHECK(init_news(bench.state()).until == bench.now() + 7s);
}

TEST_CASE("a silent agent is shown as such, and is not vouched for") {
  Policy policy = Bench::default_policy();
  policy.watchdog = 20s;
  Bench bench(policy);
  const Phase phase = GENERATE(Phase::running, Phase::switching);
  bench.reach(phase);

  bench.wait(20s);

  CHECK_FALSE(init_news(bench.state()).vouched);
  CHECK(init_news(bench.state()).status == (phase == Phase::running
                                                ? "running generation 1, silent"
                                                : "stopping generation 1, silent; upgrade u1"));
}

TEST_CASE("an upgrade that a signal asked for is a reload, to its very end; others are not") {
  Bench bench;
  bench.start();
  CHECK(init_news(bench.state()).reloads == 0);
  bench.take(UpgradeRequested{});
  // A SIGUSR2 that is refused counts as a reload, too, although no reload is under way afterwards.
  CHECK(init_news(bench.state()).reloads == 1);
  CHECK_FALSE(init_news(bench.state()).reloading);
  bench.ready(1);
  bench.upgrade();
  CHECK_FALSE(init_news(bench.state()).reloading);
  bench.exit(2);

  bench.take(UpgradeRequested{});
  CHECK(init_news(bench.state()).reloads == 2);
  CHECK(init_news(bench.state()).reloading);
  bench.ready(3);
  bench.stopped(1);
  bench.exit(1);
  bench.die(3, 11);
  CHECK(bench.phase() == Phase::falling_back);
  CHECK(init_news(bench.state()).reloading);
  bench.ready(4);

  CHECK_FALSE(init_news(bench.state()).reloading);
}

TEST_CASE("init waits for a first agent to be ready, and for one that was told to stop") {
  Bench bench;
  bench.start();
  const Time limit = bench.now() + 5min;
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::ready, 1, limit));
  bench.ready(1);
  CHECK_FALSE(init_news(bench.state()).wait);

  bench.take(StopRequested{});
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::stopped, 1, bench.now() + 90s));
  bench.stopped(1);
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::stopped, 1, bench.now() + 10s));
  bench.wait(10s);

  CHECK(bench.state().incumbent->killed);
  CHECK_FALSE(init_news(bench.state()).wait);
  CHECK_FALSE(init_news(bench.state()).until);
}

TEST_CASE("the wait for a fallback is told, as for one that must still say that it works") {
  Bench fallback;
  fallback.reach(Phase::falling_back);
  CHECK(init_news(fallback.state()).wait ==
        waits_to(InitWait::What::ready, 3, fallback.now() + 5min, true));
  fallback.say(3, agent_protocol::Hello{.version = std::nullopt, .features = {"readiness"}});
  fallback.say(3, agent_protocol::Ready{});
  CHECK(fallback.phase() == Phase::running);
  CHECK(init_news(fallback.state()).wait ==
        waits_to(InitWait::What::ready, 3, fallback.now() + 5min, true));
}

TEST_CASE(
    "init is asked for time when it stops while an agent stops for an upgrade, which keeps its "
    "limit") {
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .stop_timeout_ms = 600'000});
  bench.ready(2);
  const Time limit = bench.now() + 10min;

  bench.take(StopRequested{});

  CHECK(init_news(bench.state()).stopping);
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::stopped, 1, limit, true));
}

TEST_CASE("init waits for the candidate of a sequential upgrade while nobody is active") {
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .mode = agent_protocol::Mode::sequential});
  bench.stopped(1);

  bench.exit(1);

  CHECK(bench.phase() == Phase::replacing);
  CHECK(init_news(bench.state()).wait ==
        waits_to(InitWait::What::ready, 2, bench.now() + 5min, true));
  bench.exit(2, 1);
  CHECK(init_news(bench.state()).wait ==
        waits_to(InitWait::What::ready, 3, bench.now() + 5min, true));
}

TEST_CASE("nobody waits for an agent that will not be ready") {
  Bench terminated;
  terminated.start();
  terminated.take(StopRequested{});
  CHECK(terminated.state().incumbent->terminated);
  CHECK_FALSE(init_news(terminated.state()).wait);
}

TEST_CASE("init does not wait for a first agent that does not take its activate") {
  Bench bench;
  bench.start();
  bench.next_activate(Sent::waits);
  bench.ready(1);

  CHECK(bench.state().incumbent->deadline);
  CHECK_FALSE(init_news(bench.state()).wait);
}

TEST_CASE("init waits for the way back of a boot, and is given that agent's start timeout") {
  Policy policy = Bench::default_policy();
  policy.previous = true;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 3);

  const std::optional<InitWait> wait = init_news(bench.state()).wait;
  CHECK(wait == waits_to(InitWait::What::ready, 2, bench.now() + 5min, true));
}

TEST_CASE("a candidate with readiness is active on trial, whether or not it has said so") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.say(2, agent_protocol::Hello{.version = std::nullopt, .features = {"readiness"}});
  bench.say(2, agent_protocol::Ready{});
  bench.stopped(1);
  bench.exit(1);

  CHECK(init_news(bench.state()).active);
  CHECK(init_news(bench.state()).status == "running generation 2; upgrade u1 on trial");
}

TEST_CASE("two waits differ by whatever they wait for, for whom and until when") {
  const InitWait wait = waits_to(InitWait::What::ready, 1, Time{7});

  CHECK(wait == waits_to(InitWait::What::ready, 1, Time{7}));
  CHECK_FALSE(wait == waits_to(InitWait::What::stopped, 1, Time{7}));
  CHECK_FALSE(wait == waits_to(InitWait::What::ready, 2, Time{7}));
  CHECK_FALSE(wait == waits_to(InitWait::What::ready, 1, Time{8}));
  CHECK_FALSE(wait == waits_to(InitWait::What::ready, 1, Time{7}, true));
}

TEST_CASE("an upgrade that has failed is told of until the next one begins") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.exit(2, 3);
  const std::string failed =
      "; upgrade u1 failed at its start: exited with status 3 before it was ready";
  CHECK(init_news(bench.state()).status == "running generation 1" + failed);

  bench.upgrade("u2");
  CHECK(init_news(bench.state()).status.find("u1") == std::string::npos);
  bench.say(1, agent_protocol::Cancel{"u2", std::nullopt});
  bench.die(3, 9);
  CHECK(init_news(bench.state()).status ==
        "running generation 1; upgrade u2 was given up: cancelled by the active agent");
  bench.upgrade("u3");
  bench.ready(4);
  bench.stopped(1);
  bench.exit(1);
  bench.wait(30s);

  CHECK(init_news(bench.state()).status == "running generation 4");
}

TEST_CASE("an upgrade that was refused or fell back is told of, also while the upgrader stops") {
  Bench refused, fell_back;
  refused.reach(Phase::running);
  refused.next_check_fails("ENOENT");
  refused.take(UpgradeRequested{});
  fell_back.reach(Phase::falling_back);
  fell_back.ready(3);

  CHECK(init_news(refused.state()).status ==
        "running generation 1; upgrade sigusr2-1 was refused: the test wants it so");
  CHECK(init_news(fell_back.state()).status ==
        "running generation 3; upgrade u1 failed on trial: unfit: broken");
  fell_back.take(StopRequested{});
  CHECK(init_news(fell_back.state()).status ==
        "stopping generation 3; upgrade u1 failed on trial: unfit: broken");
}

TEST_CASE("a long reason leaves room for what an agent says of itself") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2);
  bench.say(2, agent_protocol::Unfit{std::string(1'000, 'x')});
  bench.die(2, 9);

  CHECK(init_news(bench.state()).status ==
        "running generation 1; upgrade u1 failed at its start: unfit: " + std::string(193, 'x'));
}

TEST_CASE(
    "nobody is active while a candidate has yet to read its activate, and init waits for none") {
  Bench candidate, first;
  candidate.reach(Phase::switching);
  candidate.stopped(1);
  candidate.next_activate(Sent::waits);
  candidate.exit(1);
  CHECK_FALSE(init_news(candidate.state()).active);

  first.start();
  first.next_activate(Sent::waits);
  first.ready(1);
  CHECK_FALSE(init_news(first.state()).wait);
}

TEST_CASE(
    "init waits for the way back at boot until that says that it works, on trial and after it") {
  Policy policy = Bench::default_policy();
  policy.previous = true;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 1);
  CHECK(init_news(bench.state()).wait ==
        waits_to(InitWait::What::ready, 2, bench.now() + 5min, true));
  bench.say(2, agent_protocol::Hello{.version = std::nullopt, .features = {"readiness"}});
  bench.say(2, agent_protocol::Ready{});
  const Time limit = bench.now() + 5min;
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::ready, 2, limit, true));

  bench.wait(30s);

  CHECK(bench.phase() == Phase::running);
  CHECK(init_news(bench.state()).wait == waits_to(InitWait::What::ready, 2, limit, true));
}

TEST_CASE(
    "init is told of the stop, and of who runs, also where that is nobody or a standby's end") {
  Bench nobody, standby;
  nobody.reach(Phase::replacing);
  nobody.take(StopRequested{});
  CHECK(init_news(nobody.state()).status == "stopping");

  standby.reach_warm_trial();
  standby.wait(30s);
  REQUIRE(standby.phase() == Phase::abandoning);
  CHECK(init_news(standby.state()).status == "running generation 2");
}

TEST_CASE("init is told whether what it waits for was given more time than at first") {
  Bench bench;
  bench.start();
  bench.hello(1);
  bench.say(1, agent_protocol::Extend{1'000});
  CHECK_FALSE(init_news(bench.state()).wait->extended);
  bench.say(1, agent_protocol::Extend{400'000});
  CHECK(init_news(bench.state()).wait ==
        waits_to(InitWait::What::ready, 1, bench.now() + 400s, true));
  bench.say(1, agent_protocol::Ready{});

  bench.take(StopRequested{});

  CHECK_FALSE(init_news(bench.state()).wait->extended);
}

TEST_CASE("news differ if one fact differs, so that init is told of every change") {
  const InitNews news{};
  CHECK(news == InitNews{});
  CHECK_FALSE(news == InitNews{.active = true});
  CHECK_FALSE(news == InitNews{.stopping = true});
  CHECK_FALSE(news == InitNews{.vouched = false});
  CHECK_FALSE(news == InitNews{.reloading = true});
  CHECK_FALSE(news == InitNews{.reloads = 1});
  CHECK_FALSE(news == InitNews{.wait = InitWait{}});
  CHECK_FALSE(news == InitNews{.status = "starting"});
  CHECK_FALSE(news == InitNews{.until = Time{}});
}

}  // namespace init_news_test
