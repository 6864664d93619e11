// Tests which messages reach init's socket, and when, on a clock that the test moves.
#include "upgrader/shell/init_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>

#include "tests/decisions/unit/init_bench.h"

namespace init_system_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

std::int64_t microseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
}

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

  InitNews stopping = news("stopping");
  stopping.stopping = true;
  bench.tell(stopping);
  stopping.status = "still stopping";
  bench.tell(stopping);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n", "STATUS=still stopping\n"});
}

TEST_CASE("an agent that is active only as the upgrader stops makes nothing ready") {
  InitBench bench;
  InitNews stopping = news("stopping");
  stopping.stopping = true;

  bench.tell(stopping);

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

TEST_CASE("an agent's own status is appended until the agent has gone") {
  InitBench bench;
  InitNews trial = news("on trial");
  trial.until = start + 30s;
  bench.tell(trial);
  bench.heard();

  bench.init().show_agent_status(2, "generation 2: 42 files\nin hand", start + 10s);
  CHECK(bench.heard() == Texts{"STATUS=on trial, 20 s left; generation 2: 42 files\\nin hand\n"});
  bench.init().forget_agent(1);
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"STATUS=running; generation 2: 42 files\\nin hand\n"});
  bench.init().forget_agent(2);
  bench.tell(news("falling back"));

  CHECK(bench.heard() == Texts{"STATUS=falling back\n"});
}

TEST_CASE("a reload is told when it begins, with a clock, and READY=1 when it is over") {
  InitBench bench;
  bench.tell(reloading(0, false));
  bench.heard();
  const std::int64_t before = microseconds_now();

  bench.tell(reloading(1, true));

  const Texts begun = bench.heard();
  REQUIRE(begun.size() == 1);
  const std::string head = "RELOADING=1\nMONOTONIC_USEC=";
  REQUIRE(begun[0].rfind(head, 0) == 0);
  const std::int64_t clock = std::stoll(begun[0].substr(head.size()));
  CHECK(clock >= before);
  CHECK(clock <= microseconds_now());
  CHECK(begun[0].substr(begun[0].find('\n', head.size())) == "\nSTATUS=reloads\n");
  bench.tell(reloading(1, false));
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

TEST_CASE("a deadline that comes nearer is no more time, nor that of another wait") {
  InitBench bench;
  bench.tell(extended(InitWait::What::ready, 10s, 1));
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=12000000\nSTATUS=waits\n"});
  bench.tell(extended(InitWait::What::ready, 9s, 1), 1s);
  bench.tell(waiting(InitWait::What::ready, 20s, 2), 2s);
  InitNews stop = waiting(InitWait::What::stopped, 30s, 2);
  stop.active = false;
  stop.stopping = true;
  bench.tell(stop);

  for (const std::string& message : bench.heard())
    CHECK(message.find("EXTEND") == std::string::npos);
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
  CHECK(bench.init().watchdog() == 10s);
  CHECK(bench.init().next_deadline() == Time{});
  bench.tell(news("running"));
  bench.init().tell_what_is_due(start);
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n", "WATCHDOG=1\n"});
  CHECK(bench.init().next_deadline() == start + 5s);

  bench.init().tell_what_is_due(start + 5s - 1ms);
  CHECK(bench.heard().empty());
  bench.init().tell_what_is_due(start + 6s);
  CHECK(bench.heard() == Texts{"WATCHDOG=1\n"});

  CHECK(bench.init().next_deadline() == start + 11s);
}

TEST_CASE("WATCHDOG=1 is withheld while an agent is silent, and comes at once when it is not") {
  InitBench bench(10s);
  bench.tell(news("running"));
  InitNews silent = news("silent");
  silent.vouched = false;
  bench.tell(silent, 1s);
  bench.heard();

  CHECK_FALSE(bench.init().next_deadline());
  bench.init().tell_what_is_due(start + 100s);
  CHECK(bench.heard().empty());
  bench.tell(news("running"), 2s);
  CHECK(bench.init().next_deadline() == start + 2s);
  bench.init().tell_what_is_due(start + 2s);

  CHECK(bench.heard() == Texts{"STATUS=running\n", "WATCHDOG=1\n"});
  CHECK(bench.init().next_deadline() == start + 7s);
}

TEST_CASE(
    "news send no WATCHDOG=1 that is due: a deadline that waits may say that all is not well") {
  InitBench bench(10s);
  bench.tell(news("running"));
  bench.init().tell_what_is_due(start);
  bench.heard();

  bench.tell(news("another agent runs"), 6s);

  CHECK(bench.heard() == Texts{"STATUS=another agent runs\n"});
  CHECK(bench.init().next_deadline() == start + 5s);
  InitNews silent = news("silent");
  silent.vouched = false;
  bench.tell(silent, 6s);
  bench.init().tell_what_is_due(start + 6s);
  CHECK(bench.heard() == Texts{"STATUS=silent\n"});
}

TEST_CASE("a watchdog of a millisecond does not keep the upgrader busy all the time") {
  InitBench bench(1ms);
  bench.tell(news("running"));
  bench.init().tell_what_is_due(start);

  CHECK(bench.init().next_deadline() == start + 1ms);
}

TEST_CASE("without a watchdog, or a socket, there is no WATCHDOG=1") {
  InitBench bench;
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
  CHECK_FALSE(bench.init().next_deadline());

  InitSystem nobody(nullptr, 10s);
  nobody.tell(news("running"), start);
  CHECK(nobody.watchdog() == 10s);
  CHECK_FALSE(nobody.next_deadline());
}

TEST_CASE("a socket that is named neither from the root nor abstractly is told nothing") {
  InitBench bench;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(bench.directory());
  InitSystem relative("notify");

  relative.tell(news("running"), start);

  CHECK(bench.heard().empty());
  std::filesystem::current_path(before);
}

TEST_CASE("a descriptor for readiness is told when the first agent is active, without a socket") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const OwnedFd reader(ends[0]);
  InitSystem init(nullptr, Duration::zero(), std::move(seize_for_readiness(ends[1], 3).value()));
  char byte = 0;
  init.tell(news("starting", false), start);
  CHECK(::read(reader.get(), &byte, 1) == -1);

  init.tell(news("running"), start);

  CHECK(::read(reader.get(), &byte, 1) == 1);
  CHECK(byte == '\n');
  CHECK(::read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("a socket that is full costs the news, and is never waited for") {
  InitBench bench;
  bench.tell(news("running"));
  bench.fill();
  bench.tell(news("lost"), 1s);
  CHECK_FALSE(bench.init().next_deadline());
  CHECK(bench.heard().front() == "READY=1\nSTATUS=running\n");

  bench.tell(news("later"), 2s);
  CHECK(bench.heard() == Texts{"STATUS=later\n"});
}

}  // namespace init_system_test
