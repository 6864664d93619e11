// What goes to init's socket, and when: on a clock of the test's own.
#include "upgrader/init_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>

#include "tests/unit/temporary_directory.h"

namespace {

using namespace upgrader;
using namespace std::chrono_literals;

using Texts = std::vector<std::string>;

constexpr Time start{1'000'000};

// A socket at which nobody waits, and an InitSystem that speaks to it.
class Bench {
 public:
  explicit Bench(Duration watchdog = Duration::zero())
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    init_.emplace(path().c_str(), watchdog);
  }

  InitSystem& init() { return *init_; }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }
  void tell(const InitNews& news, Duration after = Duration::zero()) {
    init_->tell(news, start + after);
  }

  // What has come since the last look, a message each.
  Texts heard() {
    Texts messages;
    char packet[4'096];
    for (ssize_t size = 0; (size = ::recv(socket_.get(), packet, sizeof packet, 0)) > 0;) {
      messages.emplace_back(packet, static_cast<std::size_t>(size));
    }
    return messages;
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() + "/notify"; }

  TemporaryDirectory directory_;
  OwnedFd socket_;
  std::optional<InitSystem> init_;
};

InitNews news(const std::string& status, bool active = true) {
  InitNews made;
  made.active = active;
  made.status = status;
  return made;
}

InitNews waiting(InitWait::What what, Duration left, Generation generation = 1) {
  InitNews made = news("waits", what == InitWait::What::stopped);
  made.wait = InitWait{what, generation, start + left};
  return made;
}

InitNews reloading(std::int64_t reloads, bool under_way) {
  InitNews made = news(under_way ? "reloads" : "runs");
  made.reloads = reloads;
  made.reloading = under_way;
  return made;
}

std::int64_t microseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
}

}  // namespace

TEST_CASE("READY=1 is told once, each status when it changes, and STOPPING=1 once") {
  Bench bench;
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
  Bench bench;
  InitNews stopping = news("stopping");
  stopping.stopping = true;

  bench.tell(stopping);

  CHECK(bench.heard() == Texts{"STOPPING=1\nSTATUS=stopping\n"});
}

TEST_CASE(
    "the status has the time that is left as of when it is sent, in whole seconds, rounded up") {
  const auto status = [](Duration left) {
    Bench bench;
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

TEST_CASE("what an agent says of itself stands behind, until it has gone") {
  Bench bench;
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
  Bench bench;
  bench.tell(reloading(0, false));
  bench.heard();
  const std::int64_t before = microseconds_now();

  bench.tell(reloading(1, true));

  const Texts begun = bench.heard();
  REQUIRE(begun.size() == 2);
  const std::string head = "RELOADING=1\nMONOTONIC_USEC=";
  REQUIRE(begun[0].rfind(head, 0) == 0);
  const std::int64_t clock = std::stoll(begun[0].substr(head.size()));
  CHECK(clock >= before);
  CHECK(clock <= microseconds_now());
  CHECK(begun[0].substr(begun[0].find('\n', head.size())) == "\nSTATUS=reloads\n");
  CHECK(begun[1] == "STATUS=reloads\n");
  bench.tell(reloading(1, false));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
}

TEST_CASE("a reload that is refused at once is answered all the same, each time") {
  Bench bench;
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
  Bench bench;
  bench.tell(reloading(1, false));
  bench.tell(reloading(2, true));
  bench.heard();

  bench.tell(reloading(3, true));
  CHECK(bench.heard() == Texts{"STATUS=reloads\n"});
  bench.tell(reloading(3, false));

  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=runs\n"});
}

TEST_CASE("before an agent is active, and while it stops, there is no reload") {
  Bench bench;
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
  Bench bench;
  bench.tell(waiting(InitWait::What::ready, 10s));
  CHECK(bench.heard() == Texts{"STATUS=waits\n"});

  bench.tell(waiting(InitWait::What::ready, 60s), 5s);
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=56000000\nSTATUS=waits\n"});
  bench.tell(waiting(InitWait::What::ready, 61s), 61s);
  CHECK(bench.heard() == Texts{"EXTEND_TIMEOUT_USEC=1000000\nSTATUS=waits\n"});

  InitNews same_wait = waiting(InitWait::What::ready, 61s);
  same_wait.status = "still waits";
  bench.tell(same_wait);
  CHECK(bench.heard() == Texts{"STATUS=still waits\n"});

  // Nothing that init waits for any more.
  bench.tell(news("running"));
  bench.tell(waiting(InitWait::What::stopped, 10s));
  bench.tell(waiting(InitWait::What::stopped, 60s));
  for (const std::string& message : bench.heard())
    CHECK(message.find("EXTEND") == std::string::npos);
}

TEST_CASE("a deadline that comes nearer is no more time, nor that of another wait") {
  Bench bench;
  bench.tell(waiting(InitWait::What::ready, 10s, 1));
  bench.tell(waiting(InitWait::What::ready, 9s, 1));
  bench.tell(waiting(InitWait::What::ready, 20s, 2));
  InitNews stop = waiting(InitWait::What::stopped, 30s, 2);
  stop.active = false;
  stop.stopping = true;
  bench.tell(stop);

  for (const std::string& message : bench.heard())
    CHECK(message.find("EXTEND") == std::string::npos);
}

TEST_CASE("a stop that was given no more time is told without any") {
  Bench bench;
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
  Bench bench;
  bench.tell(news("running"));
  InitNews stop = waiting(InitWait::What::stopped, 10s);
  stop.stopping = !before;
  bench.tell(stop);
  bench.heard();

  stop.wait->deadline = start + 60s;
  bench.tell(stop);
  if (before) CHECK(bench.heard() == Texts{"STATUS=waits\n"});
  stop.stopping = true;
  bench.tell(stop, before ? 20s : 0s);

  CHECK(bench.heard() == Texts{before ? "STOPPING=1\nEXTEND_TIMEOUT_USEC=41000000\nSTATUS=waits\n"
                                      : "EXTEND_TIMEOUT_USEC=61000000\nSTATUS=waits\n"});
  stop.status = "still waits";
  bench.tell(stop);
  CHECK(bench.heard() == Texts{"STATUS=still waits\n"});
}

TEST_CASE("WATCHDOG=1 goes out twice in the watchdog's time while all is well") {
  Bench bench(10s);
  CHECK(bench.init().watchdog() == 10s);
  CHECK(bench.init().next_deadline() == Time{});
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n", "WATCHDOG=1\n"});
  CHECK(bench.init().next_deadline() == start + 5s);

  bench.init().keep_alive(start + 5s - 1ms);
  CHECK(bench.heard().empty());
  bench.init().keep_alive(start + 6s);
  CHECK(bench.heard() == Texts{"WATCHDOG=1\n"});

  CHECK(bench.init().next_deadline() == start + 11s);
}

TEST_CASE("WATCHDOG=1 is withheld while an agent is silent, and comes at once when it is not") {
  Bench bench(10s);
  bench.tell(news("running"));
  InitNews silent = news("silent");
  silent.vouched = false;
  bench.tell(silent, 1s);
  bench.heard();

  CHECK_FALSE(bench.init().next_deadline());
  bench.init().keep_alive(start + 100s);
  CHECK(bench.heard().empty());
  bench.tell(news("running"), 2s);

  CHECK(bench.heard() == Texts{"STATUS=running\n", "WATCHDOG=1\n"});
  CHECK(bench.init().next_deadline() == start + 7s);
}

TEST_CASE("a watchdog of a millisecond does not keep the upgrader busy all the time") {
  Bench bench(1ms);
  bench.tell(news("running"));

  CHECK(bench.init().next_deadline() == start + 1ms);
}

TEST_CASE("without a watchdog, or a socket, there is no WATCHDOG=1") {
  Bench bench;
  bench.tell(news("running"));
  CHECK(bench.heard() == Texts{"READY=1\nSTATUS=running\n"});
  CHECK_FALSE(bench.init().next_deadline());

  InitSystem nobody(nullptr, 10s);
  nobody.tell(news("running"), start);
  CHECK(nobody.watchdog() == 10s);
  CHECK_FALSE(nobody.next_deadline());
}

TEST_CASE("a socket that is named neither from the root nor abstractly is told nothing") {
  Bench bench;
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
  InitSystem init(nullptr, Duration::zero(), std::get<Readiness>(Readiness::take(ends[1], 3)));
  char byte = 0;
  init.tell(news("starting", false), start);
  CHECK(::read(reader.get(), &byte, 1) == -1);

  init.tell(news("running"), start);

  CHECK(::read(reader.get(), &byte, 1) == 1);
  CHECK(byte == '\n');
  CHECK(::read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("a socket that is full costs the news, and is never waited for") {
  Bench bench(10s);
  for (int count = 0; count < 2'000; ++count)
    bench.tell(news("status " + std::to_string(count)));
  CHECK(bench.heard().size() < 1'999);

  bench.tell(news("later"));
  CHECK(bench.heard() == Texts{"STATUS=later\n"});
}
