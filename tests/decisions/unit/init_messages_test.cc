// Tests which messages init is sent, on a clock that the test moves.
#include <catch2/catch.hpp>

#include "tests/decisions/unit/init_bench.h"

namespace init_messages_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("READY=1 is told once, each status when it changes, and STOPPING=1 once") {
  InitBench bench;
  bench.tell(news("starting", false));
  CHECK(bench.heard() == Texts{"STATUS=starting\n"});
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
  bench.tell(news("running"));
  CHECK(bench.heard().empty());
  bench.tell(news("falling back", false));
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"STATUS=falling back\n", "STATUS=running\n"});

  bench.tell(stopping());
  bench.tell(stopping("still stopping"));

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n", "STATUS=still stopping\n"});
}

TEST_CASE("before there are news, nothing is told") {
  InitBench bench;

  CHECK(bench.is_silent());
  CHECK(bench.messages().newline_time() == InitMessages::never);
}

TEST_CASE("an agent that is active only as the upgrader stops makes nothing ready") {
  InitBench bench;

  bench.tell(stopping());

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n"});
}

TEST_CASE(
    "the status has the time that is left as of when it is sent, in whole seconds, rounded up") {
  const auto status = [](Duration left) {
    InitBench bench;
    InitNews trial = news("on trial");
    trial.until = start + left;
    bench.tell(trial);
    return bench.heard().back();
  };
  CHECK(status(12s) == "READY=1\nSTATUS=on trial, 12 s left\n");
  CHECK(status(11'001ms) == "READY=1\nSTATUS=on trial, 12 s left\n");
  CHECK(status(1ms) == "READY=1\nSTATUS=on trial, 1 s left\n");
  CHECK(status(0ms) == "READY=1\nSTATUS=on trial, 0 s left\n");
  CHECK(status(-5s) == "READY=1\nSTATUS=on trial, 0 s left\n");
}

TEST_CASE("the status is cut after 512 bytes, and escaped") {
  InitBench bench;

  bench.tell(news("running", false));
  bench.show_agent_status(1, "\t" + std::string(600, 'x'), 0s);

  // The limit of 512 bytes applies to the text before the tab is escaped. The first ten bytes of
  // this text are "running; " and the tab.
  CHECK(bench.heard().back() == "STATUS=running; \\t" + std::string(502, 'x') + "...\n");
}

TEST_CASE("an agent's own status is appended until the agent has gone") {
  InitBench bench;
  InitNews trial = news("on trial");
  trial.until = start + 30s;
  bench.tell(trial);
  bench.heard();

  bench.show_agent_status(2, "generation 2: 42 files\nin hand", 10s);
  CHECK(bench.heard() == Texts{"STATUS=on trial, 20 s left; generation 2: 42 files\\nin hand\n"});
  bench.messages().forget_agent(1);
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"STATUS=running; generation 2: 42 files\\nin hand\n"});
  bench.messages().forget_agent(2);
  bench.tell(news("falling back"));

  CHECK(bench.heard() == Texts{"STATUS=falling back\n"});
}

TEST_CASE("an agent that has gone takes its status with it, though nothing else has changed") {
  InitBench bench;
  bench.tell(news("running"));
  bench.show_agent_status(2, "42 files", 0s);
  bench.heard();

  bench.messages().forget_agent(2);
  bench.tell(news("running"));

  CHECK(bench.heard() == Texts{"STATUS=running\n"});
  for (const Generation generation : {2, 1}) {
    bench.messages().forget_agent(generation);
    bench.tell(news("running"));
    CHECK(bench.heard().empty());
  }
}

TEST_CASE("a reload is told when it begins, with a clock, and READY=1 when it is over") {
  InitBench bench;
  bench.tell(reloading(0, false));
  bench.heard();

  bench.tell(reloading(1, true));

  CHECK(bench.heard() == Texts{"RELOADING=1\nMONOTONIC_USEC=1000000007\nSTATUS=reloads\n"});
  bench.tell(reloading(1, false));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
}

TEST_CASE("a reload that ends with a fallback is over when that has said that it works") {
  InitBench bench;
  bench.tell(reloading(0, false));
  bench.tell(reloading(1, true));
  bench.heard();
  InitNews fallback = reloading(1, false);
  fallback.active = false;
  bench.tell(fallback);
  CHECK(bench.heard() == Texts{"STATUS=runs\n"});

  fallback.active = true;
  bench.tell(fallback);

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
}

TEST_CASE("a reload that is refused at once is answered all the same, each time") {
  InitBench bench;
  bench.tell(reloading(0, false));
  for (int count = 1; count <= 2; ++count) {
    bench.heard();

    bench.tell(reloading(count, false));

    const Texts heard = bench.heard();
    REQUIRE(heard.size() == 2);
    CHECK(heard[0].rfind("RELOADING=1\nMONOTONIC_USEC=", 0) == 0);
    CHECK(heard[1] == "READY=1\nSTATUS=runs\n");
  }
}

TEST_CASE("a second signal while a reload is under way begins none, and does not end the first") {
  InitBench bench;
  bench.tell(reloading(1, false));
  bench.tell(reloading(2, true));
  bench.heard();

  bench.tell(reloading(3, true), 1s);
  CHECK(bench.heard() == Texts{"STATUS=reloads\n"});
  bench.tell(reloading(3, false));

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
}

TEST_CASE("before an agent is active, and while it stops, there is no reload") {
  InitBench bench;
  InitNews early = reloading(1, false);
  early.active = false;
  bench.tell(early);
  CHECK(bench.heard() == Texts{"STATUS=runs\n"});
  bench.tell(reloading(1, false));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
  bench.tell(reloading(2, true));
  bench.heard();

  InitNews late = reloading(3, false);
  late.stopping = true;
  bench.tell(late);
  late.reloads = 4;
  bench.tell(late);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=runs\n", "STATUS=runs\n"});
}

TEST_CASE("a start that was given more time is told with what is left of it") {
  InitBench bench;
  bench.tell(waiting(InitWait::What::ready, 10s));
  CHECK(bench.heard() == Texts{"STATUS=waits\n"});

  bench.tell(extended(InitWait::What::ready, 60s), 5s);
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=57000000\nSTATUS=waits\n"});
  bench.tell(extended(InitWait::What::ready, 61s), 61s);
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=2000000\nSTATUS=waits\n"});

  InitNews same_wait = extended(InitWait::What::ready, 61s);
  same_wait.status = "still waits";
  bench.tell(same_wait, 62s);
  CHECK(bench.heard() == Texts{"STATUS=still waits\n"});

  // Init has received READY=1, and no longer waits. So no later message may extend init's timeout.
  bench.tell(news("running"), 63s);
  bench.tell(waiting(InitWait::What::stopped, 70s), 64s);
  bench.tell(extended(InitWait::What::stopped, 80s), 66s);
  const Texts later = bench.heard();
  CHECK(later.size() == 3);
  for (const std::string& message : later)
    CHECK(message.find("EXTEND") == std::string::npos);
}

TEST_CASE(
    "a deadline that comes nearer is no more time, and init's own limit is its own for a stop") {
  InitBench bench;
  bench.tell(extended(InitWait::What::ready, 10s, 1));
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=12000000\nSTATUS=waits\n"});
  bench.tell(extended(InitWait::What::ready, 9s, 1), 1s);
  bench.tell(extended(InitWait::What::ready, 10s, 2), 2s);
  InitNews stop = waiting(InitWait::What::stopped, 30s, 2);
  stop.active = false;
  stop.stopping = true;
  bench.tell(stop);

  for (const std::string& message : bench.heard())
    CHECK(message.find("EXTEND") == std::string::npos);
}

TEST_CASE("once init was asked for time in a start, it is asked for every later deadline") {
  InitBench bench;
  bench.tell(extended(InitWait::What::ready, 600s, 1), 30s);
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=572000000\nSTATUS=waits\n"});
  const bool is_another = GENERATE(false, true);

  // Either the upgrader waits for the active agent 1 to say `healthy`, or (`is_another`) it waits
  // for agent 2, which was started instead of agent 1. In both cases, that agent has not sent
  // `extend` since this wait began.
  bench.tell(waiting(InitWait::What::ready, 840s, is_another ? 2 : 1), 540s);

  bench.wake_until(541s);
  CHECK(bench.heard().front().find("EXTEND_TIMEOUT_USEC=30") == 0);
  bench.tell(news("running"), 542s);
  bench.tell(waiting(InitWait::What::stopped, 900s, 1), 543s);
  for (const std::string& message : bench.heard())
    CHECK(message.find("EXTEND") == std::string::npos);
}

TEST_CASE("the first request for more time does not wait for its second") {
  InitBench bench;
  bench.tell(waiting(InitWait::What::ready, 60s));
  bench.heard();

  bench.tell(extended(InitWait::What::ready, 90s), 10ms);

  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=91990000\nSTATUS=waits\n"});
}

TEST_CASE("an agent that is given more time makes init wait, even if its deadline comes nearer") {
  InitBench bench;
  InitNews stop = waiting(InitWait::What::stopped, 60s);
  stop.active = false;
  stop.stopping = true;
  bench.tell(stop);
  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=waits\n"});

  stop.wait->deadline = start + 10s;
  stop.wait->extended = true;
  bench.tell(stop, 5s);

  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=7000000\nSTATUS=waits\n"});
}

TEST_CASE("a stop that was given no more time is told without any") {
  InitBench bench;
  bench.tell(news("running"));
  InitNews stop = waiting(InitWait::What::stopped, 10s);
  bench.tell(stop);
  bench.heard();

  stop.stopping = true;
  bench.tell(stop);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=waits\n"});
}

TEST_CASE("a stop that was given more time is told once init waits for it") {
  const bool before = GENERATE(false, true);
  InitBench bench;
  bench.tell(news("running"));
  InitNews stop = waiting(InitWait::What::stopped, 10s);
  stop.stopping = !before;
  bench.tell(stop);
  bench.heard();

  stop.wait->deadline = start + 60s;
  stop.wait->extended = true;
  bench.tell(stop, 1s);
  if (before) CHECK(bench.heard() == Texts{"STATUS=waits\n"});
  stop.stopping = true;
  bench.tell(stop, before ? 20s : 1s);

  CHECK(bench.heard() == Texts{before ? "STOPPING=1\nEXTEND_TIMEOUT_USEC=42000000\nSTATUS=waits\n"
                                      : "EXTEND_TIMEOUT_USEC=61000000\nSTATUS=waits\n"});
  stop.status = "still waits";
  bench.tell(stop);
  CHECK(bench.heard() == Texts{"STATUS=still waits\n"});
}

TEST_CASE("WATCHDOG=1 goes out twice in the watchdog's time while all is well") {
  InitBench bench(10s);
  CHECK(bench.messages().watchdog() == 10s);
  CHECK(bench.messages().beat_time() == Time{});
  bench.messages().beat_tried(true, start);

  CHECK(bench.messages().beat_time() == start + 5s);
  bench.messages().beat_tried(true, start + 6s);
  CHECK(bench.messages().beat_time() == start + 11s);
}

TEST_CASE("WATCHDOG=1 is withheld while an agent is silent, and comes at once when it is not") {
  InitBench bench(10s);
  bench.tell(news("running"));
  bench.messages().beat_tried(true, start);
  InitNews silent = news("silent");
  silent.vouched = false;

  bench.tell(silent, 1s);

  CHECK(bench.messages().beat_time() == InitMessages::never);
  CHECK(bench.messages().early_beat_time() > start + 24h);
  bench.tell(news("running"), 2s);
  CHECK(bench.messages().beat_time() == start + 2s);
  bench.tell(news("still running"), 3s);
  CHECK(bench.messages().beat_time() == start + 2s);
}

TEST_CASE("an early WATCHDOG=1 comes only if 100 ms have passed since the last one") {
  const auto early = [](Duration watchdog) {
    InitMessages messages(watchdog);
    messages.beat_tried(true, start);
    return messages.early_beat_time() - start;
  };

  CHECK(early(10s) == 100ms);
  CHECK(early(202ms) == 100ms);
  CHECK(early(198ms) == 99ms);
  CHECK(early(20ms) == 10ms);
}

TEST_CASE("a watchdog of a millisecond does not keep the upgrader busy all the time") {
  InitMessages messages(1ms);
  messages.beat_tried(true, start);

  CHECK(messages.beat_time() == start + 1ms);
}

TEST_CASE("WATCHDOG=1 that meets a full socket is tried again before init's time is over") {
  for (const Duration watchdog : {30'000ms, 1ms}) {
    InitMessages messages(watchdog);
    messages.beat_tried(false, start);
    CHECK(messages.beat_time() == start + std::min(100ms, watchdog));
  }
}

TEST_CASE("without a watchdog there is no WATCHDOG=1") {
  CHECK(InitMessages(Duration::zero()).beat_time() == InitMessages::never);
}

TEST_CASE("the newline of --notify-fd is due when an agent is active, until it is written") {
  InitBench bench;
  InitMessages& messages = bench.messages();
  bench.tell(news("starting", false));
  CHECK(messages.newline_time() == InitMessages::never);
  bench.tell(news("running"), 1s);
  CHECK(messages.newline_time() == start + 1s);
  messages.newline_tried(false, start + 1s);
  CHECK(messages.newline_time() == start + 1s + 100ms);
  bench.tell(news("still running"), 1s + 50ms);
  CHECK(messages.newline_time() == start + 1s + 100ms);

  messages.newline_tried(true, start + 1s + 100ms);

  CHECK(messages.newline_time() == InitMessages::never);
}

TEST_CASE("the newline of --notify-fd is not written once the upgrader stops") {
  InitBench bench;
  const bool is_active_before = GENERATE(true, false);
  bench.tell(news("now", is_active_before));

  bench.tell(stopping(), 10ms);

  CHECK(bench.messages().newline_time() == InitMessages::never);
}

TEST_CASE("news that meet a full socket are lost, and are not sent later") {
  InitBench bench;
  bench.tell(news("running"));
  bench.fill();
  bench.tell(news("lost"), 1s);
  CHECK(bench.is_silent());
  CHECK(bench.heard().front() == "READY=1\nSTATUS=running\n");

  bench.tell(news("later"), 2s);
  CHECK(bench.heard() == Texts{"STATUS=later\n"});
}

}  // namespace init_messages_test
