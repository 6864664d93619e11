// Tests agentify's decisions with single sequences of events, such as a daemon that fails on trial.
// explore_test.cc tries all orders of events.
#include "tools/agentify/adapter.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "tests/together/agentify/stories.h"

namespace adapter_test {

using namespace stories;
using namespace std::chrono_literals;
using Stage = Adapter::Stage;

namespace {

Terms with(ReadyBy ready_by, Duration time = {}) {
  Terms terms = plain_terms();
  terms.ready_by = ready_by;
  terms.ready_time = time;
  terms.ready_text = "tcp:80";
  return terms;
}

Terms with_health(HealthAction action = HealthAction::silence) {
  Terms terms = plain_terms();
  terms.vouch = false;
  terms.health = true;
  terms.health_interval = 10s;
  terms.health_failures = 2;
  terms.health_action = action;
  return terms;
}

constexpr Welcomed first = {.readiness = true};

}  // namespace

TEST_CASE("without a check agentify is ready at once, and with one when the check has passed") {
  CHECK(Story().has<SayReady>());

  Terms terms = plain_terms();
  terms.check = true;
  Story story(terms);
  CHECK(story.actions == Actions{RunCheck{}});
  CHECK(story.tell(CheckEnded{true, ""}).actions == Actions{SayReady{}});
}

TEST_CASE("after a failed check agentify says unfit and ends") {
  Terms terms = plain_terms();
  terms.check = true;

  Story story(terms);
  story.tell(CheckEnded{false, "line 7"});

  CHECK(story.all<SayUnfit>() == std::vector{SayUnfit{"check: line 7"}});
  CHECK(story.all<Leave>() == std::vector{Leave{1}});
}

TEST_CASE("with --ready=started a daemon is vouched for when it has started") {
  Story story;
  CHECK(story.tell(Welcomed{.candidate = true}).tell(Activated{}).has<StartDaemon>());
  CHECK(story.tell(DaemonStarted{42}).has<SayHealthy>());
  CHECK(story.adapter.stage() == Stage::serving);
}

TEST_CASE("a daemon becomes ready by its own word, after a time, or by a probe's answer") {
  Story word(with(ReadyBy::word));
  CHECK_FALSE(word.start().has<SayHealthy>());
  CHECK(Story(word).tell(ReadySaid{}).has<SayHealthy>());
  CHECK(Story(word).tell(NotifyReceived{{.ready = true}}).has<SayHealthy>());
  CHECK_FALSE(Story(word).tell(NotifyReceived{{.status = "up"}}).has<SayHealthy>());

  Story time(with(ReadyBy::time, 2s));
  CHECK_FALSE(time.start().wait(1999ms).has<SayHealthy>());
  CHECK(time.wait(1ms).has<SayHealthy>());

  Story probe(with(ReadyBy::probe));
  CHECK(probe.start().all<AskDaemon>() == std::vector{AskDaemon{Probe::readiness}});
  CHECK_FALSE(probe.tell(ProbeAnswered{Probe::readiness, false, "no"}).has<SayHealthy>());
  CHECK(probe.wait(ready_interval).has<AskDaemon>());
  CHECK(probe.tell(ProbeAnswered{Probe::readiness, true, ""}).has<SayHealthy>());
}

TEST_CASE("a good answer does not make a stopping daemon ready") {
  Story story(with(ReadyBy::probe));
  story.start().tell(StopAsked{90s});
  CHECK_FALSE(story.tell(ProbeAnswered{Probe::readiness, true, ""}).has<SayHealthy>());
  CHECK_FALSE(story.wait(10s).has<AskDaemon>());
}

TEST_CASE("with --vouch=no healthy is said only if it means no more than ready") {
  Terms terms = plain_terms();
  terms.vouch = false;
  CHECK_FALSE(Story(terms).start({.candidate = true, .readiness = true}).has<SayHealthy>());
  CHECK(Story(terms).start(first).has<SayHealthy>());
  CHECK_FALSE(Story(terms).start({}).has<SayHealthy>());
}

TEST_CASE("agentify ends as its daemon ends, and in the same way") {
  Story story;
  story.start().tell(exited(3));
  CHECK(story.has<KillFamily>());
  CHECK_FALSE(story.has<LeaveLike>());

  story.tell(FamilyGone{});
  CHECK(story.all<LeaveLike>() == std::vector{LeaveLike{{DaemonEnding::How::exited, 3}}});
  CHECK_FALSE(story.has<SayStopped>());
}

TEST_CASE("a daemon that forks and exits with 0 goes on as its heir, again and again") {
  Story story;
  story.start();
  CHECK(story.tell(exited(0, 43)).all<AdoptMain>() == std::vector{AdoptMain{43}});
  CHECK(story.tell(exited(0, 44)).all<AdoptMain>() == std::vector{AdoptMain{44}});
  CHECK(story.tell(exited(0, 0)).has<KillFamily>());
  CHECK(Story().start().tell(exited(1, 43)).has<KillFamily>());
  CHECK(Story().start().tell(StopAsked{90s}).tell(exited(0, 43)).has<KillFamily>());
}

// Returns the orders with which the adapter sends `signal` to the daemon. SIGCONT follows, so that
// a suspended daemon handles the signal.
std::vector<SignalDaemon> sent(int signal) {
  return {SignalDaemon{signal}, SignalDaemon{SIGCONT}};
}

TEST_CASE("a stop sends the plan's signals, and SIGKILL at last") {
  Terms terms = plain_terms();
  terms.stop = {{{SIGQUIT, 60s}, {SIGTERM, 10s}}};
  Story story(terms);
  story.start();

  CHECK(story.tell(StopAsked{90s}).all<SignalDaemon>() == sent(SIGQUIT));
  CHECK_FALSE(story.wait(59s).has<SignalDaemon>());
  CHECK(story.wait(1s).all<SignalDaemon>() == sent(SIGTERM));
  CHECK(story.wait(10s).all<SignalDaemon>() == std::vector{SignalDaemon{SIGKILL}});
  story.tell(killed(SIGKILL)).tell(FamilyGone{});
  CHECK_FALSE(story.has<SayStopped>());
  CHECK(story.has<LeaveLike>());
}

TEST_CASE("a daemon that exits by itself or by a signal of the plan has stopped cleanly") {
  const auto stopped_after = [](const DaemonEnded& end) {
    Terms terms = plain_terms();
    terms.stop = {{{SIGQUIT, 60s}, {SIGKILL, 10s}}};
    Story story(terms);
    story.start().tell(StopAsked{90s}).tell(end);
    CHECK_FALSE(story.has<SayStopped>());
    story.tell(FamilyGone{2});
    return story.has<SayStopped>();
  };
  CHECK(stopped_after(exited(0)));
  CHECK(stopped_after(exited(1)));
  CHECK(stopped_after(killed(SIGQUIT)));
  CHECK(stopped_after(killed(SIGKILL)));
  CHECK_FALSE(stopped_after(killed(SIGSEGV)));
  CHECK_FALSE(stopped_after(killed(SIGTERM)));
  CHECK_FALSE(stopped_after({}));
}

TEST_CASE("a stop before the daemon has been started cancels the start, or follows it") {
  Story story;
  story.tell(Welcomed{}).tell(Activated{});
  CHECK(story.tell(StopAsked{60s}).actions == Actions{CancelStart{}});
  CHECK(Story(story).tell(FamilyGone{}).has<SayStopped>());
  CHECK(Story(story).tell(DaemonRefused{ENOENT, "no"}).has<SayStopped>());

  story.tell(DaemonStarted{42});
  CHECK(story.all<SignalDaemon>() == sent(SIGTERM));
  CHECK(story.wait(59s).all<SignalDaemon>() == std::vector{SignalDaemon{SIGKILL}});
}

TEST_CASE("a daemon that cannot be started is unfit on trial, and the exit status is a shell's") {
  Story story;
  story.tell(Welcomed{.candidate = true}).tell(Activated{}).tell(DaemonRefused{ENOENT, "no"});
  CHECK(story.has<SayUnfit>());
  CHECK(story.all<Leave>() == std::vector{Leave{127}});

  Story first_agent;
  first_agent.tell(Welcomed{}).tell(Activated{}).tell(DaemonRefused{EACCES, "no"});
  CHECK_FALSE(first_agent.has<SayUnfit>());
  CHECK(first_agent.all<Leave>() == std::vector{Leave{126}});
}

TEST_CASE("a lost keeper is unfit while held; later the daemon is killed, an unclean stop") {
  CHECK(Story().tell(KeeperLost{}).has<SayUnfit>());

  Story story;
  story.start().tell(StopAsked{90s});
  CHECK(story.tell(KeeperLost{}).has<KillOrphans>());
  story.tell(FamilyGone{1});
  CHECK_FALSE(story.has<SayStopped>());
  CHECK(story.all<Leave>() == std::vector{Leave{1}});

  Story swept;
  swept.start().tell(StopAsked{90s}).tell(exited(0)).tell(KeeperLost{}).tell(FamilyGone{1});
  CHECK(swept.has<SayStopped>());
}

TEST_CASE("a daemon that ends by itself is unfit on trial, and otherwise reported") {
  const std::string why = "the daemon exited with status 3";
  Story on_trial;
  CHECK(on_trial.start().tell(exited(3)).all<SayUnfit>() == std::vector{SayUnfit{why}});
  CHECK_FALSE(on_trial.has<ReportFailure>());
  CHECK(on_trial.tell(FamilyGone{}).has<LeaveLike>());

  Story first_agent;
  CHECK(first_agent.start({}).tell(exited(3)).all<ReportFailure>() ==
        std::vector{ReportFailure{why}});
  CHECK_FALSE(first_agent.has<SayUnfit>());

  Story stopped;
  stopped.start().tell(StopAsked{90s}).tell(exited(3));
  CHECK_FALSE(stopped.has<SayUnfit>());
  CHECK_FALSE(stopped.has<ReportFailure>());
}

TEST_CASE("a daemon on trial is vouched for when it has been ready for the settle time") {
  Terms terms = with(ReadyBy::word);
  terms.settle = 3s;
  Story story(terms);
  story.activate({.trial = 30s, .commit_healthy = true});
  CHECK_FALSE(story.tell(ReadySaid{}).has<SayHealthy>());
  CHECK_FALSE(story.wait(2999ms).has<SayHealthy>());
  CHECK(story.wait(1ms).has<SayHealthy>());

  Story died(terms);
  died.activate({.trial = 30s, .commit_healthy = true}).tell(ReadySaid{}).wait(2s);
  CHECK_FALSE(died.tell(exited(1)).wait(5s).has<SayHealthy>());
}

TEST_CASE("the settle time is at most half the trial, and zero without a trial") {
  Terms terms = with(ReadyBy::word);
  terms.settle = 3s;
  Story brief(terms);
  brief.activate({.trial = 4s, .commit_healthy = true}).tell(ReadySaid{});
  CHECK_FALSE(brief.wait(1999ms).has<SayHealthy>());
  CHECK(brief.wait(1ms).has<SayHealthy>());

  CHECK(Story(terms).start(first).tell(ReadySaid{}).has<SayHealthy>());
  CHECK(Story(terms).activate({.trial = 0s}).tell(ReadySaid{}).has<SayHealthy>());
}

TEST_CASE("with health a daemon on trial has to be well for the settle time, too") {
  Terms terms = with_health();
  terms.vouch = true;
  terms.settle = 3s;
  Story story(terms);
  CHECK(story.activate({.trial = 30s}).all<AskDaemon>() == std::vector{AskDaemon{Probe::health}});
  CHECK_FALSE(story.wait(10s).has<SayHealthy>());  // no answer of the probe within 10 s

  story.tell(ProbeAnswered{Probe::health, true, ""}).wait(1s);
  story.tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK_FALSE(story.wait(1s).has<SayHealthy>());
  story.tell(ProbeAnswered{Probe::health, true, ""});
  for (int i = 0; i < 2; ++i) {
    CHECK(story.wait(1s).has<AskDaemon>());
    CHECK_FALSE(story.tell(ProbeAnswered{Probe::health, true, ""}).has<SayHealthy>());
  }
  CHECK(story.wait(1s).has<SayHealthy>());
}

TEST_CASE("an answer that is late at the end of the settle time is waited for, and time goes on") {
  Terms terms = with_health();
  terms.vouch = true;
  terms.settle = 3s;
  Story story(terms);
  story.activate({.trial = 30s});
  story.tell(ProbeAnswered{Probe::health, true, ""});
  REQUIRE(story.wait(1s).has<AskDaemon>());

  story.now += 5s;
  CHECK_FALSE(story.tell(TimePassed{}).has<SayHealthy>());
  CHECK(story.adapter.next_deadline() > story.now);

  CHECK(story.tell(ProbeAnswered{Probe::health, true, ""}).has<SayHealthy>());
}

TEST_CASE("a daemon that is never ready is unfit before its trial ends, whatever passes it") {
  for (const bool healthy : {true, false}) {
    Story story(with(ReadyBy::probe));
    story.activate({.trial = 10s, .commit_healthy = healthy});
    story.tell(ProbeAnswered{Probe::readiness, false, "refused"});
    CHECK_FALSE(story.wait(8999ms).has<SayUnfit>());
    CHECK(story.wait(1ms).all<SayUnfit>() ==
          std::vector{SayUnfit{"the daemon is not ready: refused (--ready=tcp:80)"}});
    CHECK_FALSE(story.tell(ProbeAnswered{Probe::readiness, true, ""}).has<SayHealthy>());
  }
  Story silent(with(ReadyBy::word));
  silent.activate({.trial = 60s});
  CHECK_FALSE(silent.wait(57999ms).has<SayUnfit>());
  CHECK(silent.wait(1ms).has<SayUnfit>());
  CHECK_FALSE(Story(with(ReadyBy::word)).activate({.trial = 0s}).wait(1h).has<SayUnfit>());
  CHECK_FALSE(Story(with(ReadyBy::word)).activate({}).tell(Committed{}).wait(1h).has<SayUnfit>());
}

TEST_CASE("a daemon whose lock another one holds is unfit before its trial ends") {
  Story story;
  story.tell(Welcomed{.candidate = true}).tell(Activated{.trial = 10s});
  story.tell(DaemonWaits{"process 7 (d)"});
  CHECK(story.all<SayStatus>() ==
        std::vector{SayStatus{"not ready: waits for the daemon before: its lock is held by process "
                              "7 (d)"}});
  CHECK(story.wait(9s).all<SayUnfit>() ==
        std::vector{SayUnfit{"the daemon is not ready: waits for the daemon before: its lock is "
                             "held by process 7 (d)"}});
}

TEST_CASE("a daemon that is ready too late to settle is unfit if healthy would pass it") {
  for (const bool healthy : {true, false}) {
    Terms terms = with(ReadyBy::word);
    terms.settle = 3s;
    Story story(terms);
    story.activate({.trial = 10s, .commit_healthy = healthy}).wait(8s).tell(ReadySaid{});
    CHECK(story.wait(1s).has<SayUnfit>() == healthy);
  }
}

TEST_CASE("a daemon that is not well when its trial is about to end is unfit") {
  Terms terms = with_health();
  terms.health_failures = 9;
  Story story(terms);
  story.activate({.trial = 25s}).wait(10s).tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK(story.wait(13s).all<SayUnfit>() == std::vector{SayUnfit{"the daemon is not well: no"}});
}

TEST_CASE("a daemon that asks for more time to start is judged before the end of its trial") {
  Story story(with(ReadyBy::word));
  story.tell(Welcomed{.candidate = true, .readiness = true});
  story.tell(Activated{.trial = 10s}).tell(DaemonStarted{42});
  CHECK(story.tell(NotifyReceived{{.extend = 60s}}).has<SayExtend>());
  CHECK_FALSE(story.wait(8s).has<SayUnfit>());
  CHECK(story.wait(1s).has<SayUnfit>());
}

TEST_CASE("a daemon that is committed while it settles need not settle any more") {
  Terms terms = with(ReadyBy::word);
  terms.settle = 3s;
  Story candidate(terms);
  candidate.activate({.trial = 30s}).tell(ReadySaid{});
  CHECK_FALSE(candidate.tell(Committed{}).has<SayHealthy>());
  CHECK_FALSE(candidate.wait(1h).has<SayHealthy>());

  Story boot(terms);
  boot.tell(Welcomed{.boot = true, .readiness = true}).tell(Activated{.trial = 30s});
  CHECK_FALSE(boot.tell(DaemonStarted{42}).tell(ReadySaid{}).has<SayHealthy>());
  CHECK(boot.tell(Committed{}).has<SayHealthy>());
}

TEST_CASE("the status says why a daemon is not ready, when that changes, and how long it took") {
  Story story(with(ReadyBy::probe));
  story.start();
  story.tell(ProbeAnswered{Probe::readiness, false, "refused"});
  CHECK(story.all<SayStatus>() == std::vector{SayStatus{"not ready: refused (--ready=tcp:80)"}});
  story.wait(ready_interval).tell(ProbeAnswered{Probe::readiness, false, "refused"});
  CHECK_FALSE(story.has<SayStatus>());
  story.wait(ready_interval).tell(ProbeAnswered{Probe::readiness, false, "503"});
  CHECK(story.has<SayStatus>());
  story.wait(ready_interval).tell(ProbeAnswered{Probe::readiness, true, ""});
  CHECK(story.all<SayStatus>() == std::vector{SayStatus{"the daemon is ready after 300 ms"}});
}

TEST_CASE("the status says that a daemon is sick, and that it is well again") {
  Story story(with_health());
  story.start().tell(Committed{});
  for (int i = 0; i < 2; ++i)
    story.wait(10s).tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK(story.all<SayStatus>() == std::vector{SayStatus{"the daemon is sick: no"}});
  story.wait(10s).tell(ProbeAnswered{Probe::health, true, ""});
  CHECK(story.all<SayStatus>() == std::vector{SayStatus{"the daemon is healthy again"}});
}

TEST_CASE("on trial a sick daemon is unfit") {
  Story story(with_health());
  story.start();
  CHECK(story.wait(10s).all<AskDaemon>() == std::vector{AskDaemon{Probe::health}});
  CHECK_FALSE(story.tell(ProbeAnswered{Probe::health, false, "no"}).has<SayUnfit>());
  story.wait(10s).tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK(story.all<SayUnfit>() == std::vector{SayUnfit{"the daemon is sick: no"}});
}

TEST_CASE("the log says so if nobody would notice a sick daemon") {
  const auto warned = [](const Terms& terms, std::optional<Duration> watchdog) {
    Story story(terms);
    story.tell(Welcomed{.watchdog = watchdog}).tell(Activated{});
    return story.has<Log>();
  };
  CHECK(warned(with_health(), std::nullopt));
  CHECK_FALSE(warned(with_health(), 3s));
  CHECK_FALSE(warned(with_health(HealthAction::exit), std::nullopt));
  CHECK_FALSE(warned(plain_terms(), std::nullopt));
}

TEST_CASE("one good answer resets the count of failures") {
  Story story(with_health());
  story.start();
  for (const bool good : {false, true, false})
    story.wait(10s).tell(ProbeAnswered{Probe::health, good, "no"});
  CHECK_FALSE(story.has<SayUnfit>());
}

TEST_CASE("a sick daemon that is committed gets no heartbeats until it is well") {
  Story story(with_health());
  story.start({.candidate = true, .watchdog = 3s}).tell(Committed{});
  CHECK(story.wait(9s).all<SayHeartbeat>().size() == 9);
  for (int i = 0; i < 2; ++i)
    story.wait(10s).tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK_FALSE(story.has<SayUnfit>());
  CHECK_FALSE(story.wait(9s).has<SayHeartbeat>());
  story.wait(1s).tell(ProbeAnswered{Probe::health, true, ""});
  CHECK(story.wait(1s).has<SayHeartbeat>());
}

TEST_CASE("with the health action exit a sick daemon is stopped, and agentify ends with 1") {
  Story story(with_health(HealthAction::exit));
  story.start().tell(Committed{});
  for (int i = 0; i < 2; ++i)
    story.wait(10s).tell(ProbeAnswered{Probe::health, false, "no"});
  CHECK(story.has<SignalDaemon>());

  Story stopped = story;
  story.tell(exited(0)).tell(FamilyGone{});
  CHECK(story.all<Leave>() == std::vector{Leave{1}});
  CHECK_FALSE(story.has<SayStopped>());

  stopped.tell(StopAsked{90s}).tell(exited(0)).tell(FamilyGone{});
  CHECK(stopped.has<SayStopped>());
}

TEST_CASE("the first heartbeat comes with the start, and none before") {
  Story story;
  story.tell(Welcomed{.candidate = true, .watchdog = 3s});
  CHECK_FALSE(story.adapter.next_deadline());
  CHECK(story.tell(Activated{}).has<SayHeartbeat>());
}

TEST_CASE("a daemon that has said WATCHDOG=1 once must say it again") {
  Story story(with(ReadyBy::word));
  story.start({.candidate = true, .watchdog = 3s});
  CHECK(story.tell(NotifyReceived{{.alive = true}}).has<SayHeartbeat>());
  CHECK_FALSE(story.wait(1h).has<SayHeartbeat>());
  CHECK(story.tell(NotifyReceived{{.alive = true}}).has<SayHeartbeat>());
  CHECK(story.tell(NotifyReceived{{.failed = true}}).has<SayUnfit>());
  CHECK_FALSE(story.tell(NotifyReceived{{.alive = true}}).has<SayHeartbeat>());
}

TEST_CASE("notifications of the daemon are passed on") {
  Story story(with(ReadyBy::word));
  story.start(first);
  CHECK(story.tell(NotifyReceived{{.status = "up"}}).all<SayStatus>() ==
        std::vector{SayStatus{"up"}});
  CHECK(story.tell(NotifyReceived{{.main_process = 43}}).all<AdoptMain>() ==
        std::vector{AdoptMain{43}});
  CHECK(story.tell(NotifyReceived{{.extend = 7s}}).all<SayExtend>() == std::vector{SayExtend{7s}});
  CHECK_FALSE(Story(with(ReadyBy::word))
                  .start({.candidate = true})
                  .tell(NotifyReceived{{.extend = 7s}})
                  .has<SayExtend>());
  CHECK(story.tell(SignalTaken{SIGHUP}).all<SignalDaemon>() == std::vector{SignalDaemon{SIGHUP}});
}

TEST_CASE("a daemon that asks for time while it stops gets it, and the upgrader is told") {
  Story story;
  story.start().tell(StopAsked{90s}).wait(80s);
  CHECK(story.tell(NotifyReceived{{.extend = 60s}}).all<SayExtend>() ==
        std::vector{SayExtend{61s}});
  CHECK_FALSE(story.wait(59s).has<SignalDaemon>());
  CHECK(story.wait(1s).all<SignalDaemon>() == std::vector{SignalDaemon{SIGKILL}});
  CHECK_FALSE(story.tell(NotifyReceived{{.extend = 60s}}).has<SayExtend>());
}

TEST_CASE("signals and messages have no effect without a daemon") {
  Story story;
  CHECK(story.tell(SignalTaken{SIGHUP}).actions.empty());
  CHECK(story.tell(NotifyReceived{{.ready = true, .status = "x"}}).actions.empty());
  CHECK(story.tell(TimePassed{}).actions.empty());
  CHECK(story.tell(CheckEnded{true, ""}).actions.empty());
}

}  // namespace adapter_test
