// Tests how often messages are sent to init, and which messages are held back and sent later. The
// test moves the clock.
#include <catch2/catch.hpp>

#include "tests/decisions/unit/init_bench.h"

namespace init_pace_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;

// Records the messages that init receives, and their times.
class Record {
 public:
  void add(Time now, const std::string& message) {
    times_.push_back(now);
    messages_.push_back(message);
  }
  void add_all(InitBench& bench, Duration after) {
    for (const std::string& message : bench.heard())
      add(start + after, message);
  }
  void wake(InitBench& bench, Duration after) {
    bench.wake_until(after, [this](Time now, const std::string& message) { add(now, message); });
  }

  [[nodiscard]] const Texts& messages() const { return messages_; }
  [[nodiscard]] std::size_t most_in_a_second() const {
    std::size_t most = 0;
    for (std::size_t first = 0; first < times_.size(); ++first) {
      std::size_t last = first;
      while (last < times_.size() && times_[last] < times_[first] + 1s)
        ++last;
      most = std::max(most, last - first);
    }
    return most;
  }

 private:
  std::vector<Time> times_;
  Texts messages_;
};

}  // namespace

TEST_CASE("a flood of extend makes one message a second, and the last deadline is told") {
  InitBench bench;
  Record record;
  bench.tell(extended(InitWait::What::ready, 60s));
  for (Duration after = 1ms; after < 5s; after += 1ms) {
    record.wake(bench, after);
    bench.tell(extended(InitWait::What::ready, 60s + after), after);
    record.add_all(bench, after);
  }
  record.wake(bench, 7s);

  CHECK(record.messages().size() == 6);
  CHECK(record.messages().front() == "EXTEND_TIMEOUT_USEC=62000000\nSTATUS=waits\n");
  // The last message is sent at second 5, which is 59.999 s before the deadline at second 64.999.
  // The message asks init for 2 s more than these 59.999 s.
  CHECK(record.messages().back() == "EXTEND_TIMEOUT_USEC=61999000\nSTATUS=waits\n");
  CHECK(bench.is_silent());
}

TEST_CASE("whatever changes, however often, init hears at most ten messages a second") {
  InitBench bench;
  Record record;
  bench.tell(news("starting", false));
  int count = 0;
  for (Duration after = 0ms; after < 3s; after += 1ms) {
    record.wake(bench, after);
    InitNews next = reloading(count / 7, count % 7 == 3);
    next.active = after > 500ms;
    next.status = "status " + std::to_string(++count);
    if (after > 2s) next.stopping = true;
    bench.tell(next, after);
    bench.show_agent_status(1, std::to_string(count), after);
    record.add_all(bench, after);
  }
  record.wake(bench, 5s);

  CHECK(record.most_in_a_second() <= 10);
  CHECK(record.messages().size() > 20);
  CHECK(record.messages().back() == "STATUS=status 3000; 3000\n");
}

TEST_CASE("READY=1 and STOPPING=1 never wait, however much has been told") {
  InitBench bench;
  for (int count = 0; count < 100; ++count)
    bench.tell(news("status " + std::to_string(count), false));
  bench.heard();

  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
  bench.tell(stopping());

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n"});
}

TEST_CASE("news that have changed back before they were told are not told") {
  InitBench bench;
  for (int count = 0; count < 8; ++count)
    bench.tell(news("status " + std::to_string(count), false));
  bench.heard();
  bench.tell(news("other", false));
  REQUIRE(bench.messages().next_time() == start + pace_interval);

  bench.tell(news("status 7", false));

  CHECK(bench.is_silent());
  CHECK(bench.heard().empty());
}

TEST_CASE("READY=1 that meets a full socket is tried again every 100 ms until it is sent") {
  InitBench bench;
  bench.fill();
  bench.tell(news("running"));
  CHECK(bench.messages().next_time() == start + 100ms);
  CHECK(bench.wake_until(999ms) == 9);
  // Reads the messages that fill() has sent, so that the socket has room again. heard() returns
  // none of these messages.
  CHECK(bench.heard().empty());

  CHECK(bench.wake_until(5s) == 1);

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
}

TEST_CASE("a message that is owed says how things stand when it is sent") {
  InitBench bench;
  bench.fill();
  bench.tell(news("running"));
  bench.tell(news("falling back", false), 10ms);
  bench.heard();

  bench.wake_until(1s);

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=falling back\n"});
}

TEST_CASE("STOPPING=1 that meets a full socket stays owed, and overtakes READY=1") {
  InitBench bench;
  bench.fill();
  bench.tell(news("running"));
  bench.tell(stopping(), 10ms);
  CHECK(bench.messages().next_time() == start + 110ms);
  bench.heard();

  bench.wake_until(1s);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n"});
  CHECK(bench.is_silent());
}

TEST_CASE("STOPPING=1 does not wait for the next try of READY=1") {
  InitBench bench;
  bench.fill();
  bench.tell(news("running"));
  bench.heard();

  bench.tell(stopping(), 10ms);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n"});
}

TEST_CASE("a request for more time that meets a full socket is sent again") {
  InitBench bench;
  bench.tell(extended(InitWait::What::ready, 60s));
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=62000000\nSTATUS=waits\n"});
  bench.fill();
  bench.tell(extended(InitWait::What::ready, 120s), 2s);
  CHECK(bench.messages().next_time() == start + 2s + 100ms);
  CHECK(bench.wake_until(2s + 999ms) == 9);
  bench.heard();

  bench.wake_until(5s);

  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=119000000\nSTATUS=waits\n"});
  CHECK(bench.is_silent());
}

TEST_CASE("READY=1 does not wait for the next try of a request for more time") {
  InitBench bench;
  bench.fill();
  bench.tell(extended(InitWait::What::ready, 60s));
  bench.heard();

  bench.tell(news("running"), 10ms);

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
  CHECK(bench.is_silent());
}

TEST_CASE("RELOADING=1 never goes out after its READY=1, whenever the socket is full") {
  const bool full_at_start = GENERATE(true, false);
  const bool room_before_end = GENERATE(true, false);
  InitBench bench;
  if (full_at_start) bench.fill();
  bench.tell(reloading(0, false));
  if (!full_at_start) bench.heard();
  if (!full_at_start) bench.fill();
  bench.tell(reloading(1, true), 10ms);
  Record record;
  if (room_before_end) record.add_all(bench, 10ms);
  record.wake(bench, 500ms);
  bench.tell(reloading(1, false), 500ms);
  record.add_all(bench, 500ms);
  record.wake(bench, 5s);

  const Texts& all = record.messages();
  REQUIRE(all.size() == (full_at_start ? 3 : 2));
  if (full_at_start) CHECK_THAT(all[0], StartsWith("READY=1\n"));
  CHECK_THAT(all[all.size() - 2], StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(all.back() == "READY=1\nSTATUS=runs\n");
}

TEST_CASE("a reload that begins and ends while the socket is full is told behind READY=1") {
  InitBench bench;
  bench.fill();
  bench.tell(reloading(0, false));
  bench.tell(reloading(1, true), 10ms);
  bench.tell(reloading(1, false), 20ms);
  bench.heard();

  bench.wake_until(3s);

  const Texts all = bench.heard();
  REQUIRE(all.size() == 3);
  CHECK(all[0] == "READY=1\nSTATUS=runs\n");
  CHECK_THAT(all[1], StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(all[2] == "READY=1\nSTATUS=runs\n");
}

TEST_CASE("news do not overtake what is owed, though there is room by then") {
  InitBench bench;
  bench.fill();
  bench.tell(news("running"));
  bench.heard();

  bench.tell(news("still running"), 50ms);
  CHECK(bench.heard().empty());
  bench.wake_until(100ms);

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=still running\n"});
}

TEST_CASE("reloads of which init could hear nothing are one to it") {
  InitBench bench;
  bench.tell(reloading(0, false));
  bench.heard();
  bench.fill();
  for (int count = 1; count < 50; ++count)
    bench.tell(reloading(count, false), count * 1ms);
  bench.heard();

  bench.wake_until(3s);

  const Texts all = bench.heard();
  REQUIRE(all.size() == 2);
  CHECK_THAT(all[0], StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(all[1] == "READY=1\nSTATUS=runs\n");
}

TEST_CASE("a status whose time alone changes waits for its second, and any other does not") {
  InitBench bench;
  InitNews trial = news("on trial");
  trial.until = start + 30s;
  bench.tell(trial);
  bench.heard();
  trial.until = start + 60s;

  bench.tell(trial, 20ms);
  CHECK(bench.heard().empty());
  CHECK(bench.messages().next_time() == start + 1s);
  trial.status = "still on trial";
  bench.tell(trial, 40ms);

  CHECK(bench.heard() == Texts{"STATUS=still on trial, 60 s left\n"});
}

TEST_CASE("messages that a full socket has cost do not count as sent") {
  InitBench bench;
  bench.fill();
  for (int count = 0; count < 20; ++count)
    bench.tell(news("status " + std::to_string(count), false));
  bench.heard();

  bench.tell(news("running", false));

  CHECK(bench.heard() == Texts{"STATUS=running\n"});
}

TEST_CASE("that init waits for something else is news, and not only a matter of time") {
  InitBench bench;
  InitNews news;
  news.active = true;
  news.wait = InitWait{InitWait::What::ready, 1, start + 5min};
  bench.tell(news);
  bench.wake_until(10ms);
  bench.heard();

  news.wait->deadline += 1s;
  bench.tell(news, 20ms);
  CHECK(bench.heard().empty());
  news.wait = InitWait{InitWait::What::stopped, 1, start + 5min};
  bench.tell(news, 20ms);

  CHECK(bench.heard().size() == 1);
  news.wait.reset();
  bench.tell(news, 30ms);

  CHECK(bench.heard().size() == 1);
}

}  // namespace init_pace_test
