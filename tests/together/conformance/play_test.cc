// Tests which results agent-conformance's checks have after given events, without a process or a
// real clock.
#include "tools/agent-conformance/play.h"

#include <catch2/catch.hpp>

#include <csignal>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/effects.h"

namespace play_test {

using namespace conformance;
using namespace std::chrono_literals;

namespace {

// A check of agent-conformance that gets its events from the test. Only the test moves the clock.
class Bench {
 public:
  explicit Bench(std::string_view name) : play_(*find_check(name), terms_) {
    take(play_.begin(now_));
    see(Started{.pid = 100});
  }

  template <class What>
  void see(const What& what, int agent = 0) {
    take(play_.step({.agent = agent, .what = what}, now_));
  }
  void says(const std::string& line, int agent = 0) { see(Line{.bytes = line}, agent); }
  void becomes_ready() {
    says(R"({"type":"hello","protocol":1})");
    says(R"({"type":"ready"})");
  }
  void reads() { see(InputTaken{}); }
  void waits(Time time) {
    now_ += time;
    see(TimeUp{});
  }
  // Moves the clock to the next deadline.
  void waits() { waits(*play_.deadline() - now_); }

  [[nodiscard]] bool was_told(const std::string& part) const {
    return told_.find(part) != std::string::npos;
  }
  [[nodiscard]] bool passed() const { return play_.is_over() && !play_.fault(); }
  [[nodiscard]] std::string fault() const { return play_.fault() ? play_.fault()->came : ""; }
  [[nodiscard]] const Play& play() const { return play_; }
  [[nodiscard]] const Terms& terms() const { return terms_; }

 private:
  void take(const Orders& orders) {
    for (const Order& order : orders) {
      if (const auto* write = std::get_if<Write>(&order.what)) told_ += write->bytes;
    }
  }

  Terms terms_;
  Play play_;
  Time now_{0};
  std::string told_;
};

}  // namespace

TEST_CASE("hello is answered with welcome, and is enough for its check") {
  Bench bench("hello");

  bench.says(R"({"type":"hello","protocol":1})");

  CHECK(bench.passed());
  CHECK(bench.was_told(R"("role":"first")"));
}

TEST_CASE("stray output before hello is no matter of the check of hello") {
  Bench bench("hello");

  bench.says("a banner");
  bench.says(R"({"type":"hello","protocol":1})");

  CHECK(bench.passed());
}

TEST_CASE("a deadline that an agent has extended is not over before that") {
  Bench bench("stop");
  bench.becomes_ready();
  bench.reads();
  bench.waits();  // the check watches the agent until its deadline, which passes here
  REQUIRE(bench.was_told(R"("type":"stop")"));

  bench.waits(20s);
  bench.says(R"({"type":"extend","ms":60000})");
  bench.waits(50s);
  CHECK_FALSE(bench.play().is_over());
  bench.says(R"({"type":"stopped"})");

  CHECK(bench.passed());
}

TEST_CASE("a deadline ends a check with words about what did not come") {
  Bench bench("stop");
  bench.becomes_ready();
  bench.reads();
  bench.waits();

  bench.waits();

  CHECK(bench.fault() == "it did not say stopped within 30 s");
}

TEST_CASE("time that is told too early changes nothing") {
  Bench bench("ready");
  bench.says(R"({"type":"hello","protocol":1})");

  bench.see(TimeUp{});

  CHECK_FALSE(bench.play().is_over());
}

TEST_CASE("an exit that nobody has asked for ends every check, with the state in which it came") {
  Bench held("held");
  held.becomes_ready();
  held.see(Exited{.status = 3});
  CHECK(held.fault() == "it exited with status 3, although it was held");

  Bench early("ready");
  early.see(Exited{.signal = SIGSEGV});
  CHECK(early.fault() == "it was killed by signal 11 (SIGSEGV) before it said hello");

  Bench stopping("stop");
  stopping.becomes_ready();
  stopping.reads();
  stopping.waits();
  stopping.see(Exited{});
  CHECK(stopping.fault() == "it exited with status 0 without having said stopped");
}

TEST_CASE("a closed output counts only if the agent does not end soon") {
  Bench lives("held");
  lives.becomes_ready();
  lives.see(OutputClosed{});
  lives.waits();
  CHECK(lives.fault() == "it closed its output and lives on");

  Bench ends("held");
  ends.becomes_ready();
  ends.see(OutputClosed{});
  ends.see(Exited{.status = 1});
  CHECK(ends.fault() == "it exited with status 1, although it was held");
}

TEST_CASE("a refused message is answered by `error`, and fails no other check") {
  Bench bench("stop");
  bench.says(R"({"type":"hello","protocol":1})");

  bench.says(R"({"type":"heartbeat"})");
  bench.says(R"({"type":"novelty"})");

  CHECK(bench.was_told(R"("about":"heartbeat")"));
  CHECK(bench.was_told(R"("about":"novelty")"));
  CHECK_FALSE(bench.play().is_over());
}

TEST_CASE("what an agent says is escaped in a fault and in a note") {
  const std::string hello = R"({"type":"hello","protocol":1})";
  const std::string unfit = R"({"type":"unfit","reason":"\u001b[2Jno\u0001\n\u009b"})";
  const std::string escaped = R"(it said that it is unfit: \x1b[2Jno\x01\n\xc2\x9b)";

  SECTION("the reason for which it is unfit") {
    Bench bench("ready");
    bench.says(hello);
    bench.says(unfit);
    CHECK(bench.fault() == escaped);
  }
  SECTION("this reason, if the check lets an agent be unfit") {
    Bench bench("state-absent");
    bench.says(hello);
    bench.says(unfit);
    CHECK(bench.passed());
    CHECK(bench.play().notes() == std::vector<std::string>{escaped});
  }
  SECTION("the type of a message that it may not send") {
    Bench bench("well-formed");
    bench.says(hello);
    bench.says(R"({"type":"\u001b[2Jtype"})");
    CHECK(bench.fault().starts_with(R"(it said `\x1b[2Jtype`, which is not obeyed)"));
  }
}

TEST_CASE("an upgrade that the agent asks for is refused as the upgrader does") {
  Bench bench("activate");
  bench.becomes_ready();

  bench.says(R"({"type":"upgrade","id":"mine","executable":"/x"})");

  CHECK(bench.was_told(R"({"type":"upgrade_failed","id":"mine","stage":"request")"));
}

TEST_CASE("an agent that cancels a stop must keep the work until it is told to stop again") {
  Bench bench("candidate-lost");
  bench.becomes_ready();
  bench.reads();
  bench.waits();
  REQUIRE(bench.was_told("candidate_lost"));

  bench.says(R"({"type":"cancel","id":"u1"})");
  CHECK(bench.was_told(R"("type":"upgrade_failed","id":"u1")"));

  SECTION("it stays, and stops later") {
    bench.reads();
    bench.waits();
    bench.says(R"({"type":"stopped"})");
    CHECK(bench.passed());
  }
  SECTION("it says stopped all the same") {
    bench.says(R"({"type":"stopped"})");
    CHECK(bench.fault().find("it has cancelled its stop") != std::string::npos);
  }
  SECTION("it exits") {
    bench.see(Exited{});
    CHECK_FALSE(bench.fault().empty());
  }
}

TEST_CASE("a child holds the pipe only if it sleeps on it at every look but the first") {
  const auto facts = [](bool sleeps) {
    ProcessFacts child;
    child.pid = 7;
    child.sleeps = sleeps;
    child.has_output = true;
    return Looked{std::make_shared<const Facts>(Facts{.alive = true, .processes = {child}})};
  };
  const int awake = GENERATE(-1, 0, 1, 2);
  Bench bench("private-pipes");
  bench.becomes_ready();
  bench.reads();

  for (int i = 0; i < 3; ++i) {
    bench.waits();
    bench.see(facts(i != awake));
  }

  CHECK(bench.fault().empty() == (awake >= 1));
}

TEST_CASE("heartbeats are counted over four times watchdog_ms") {
  const int beats = GENERATE(3, 4);
  Bench bench("heartbeats");
  bench.becomes_ready();
  bench.reads();
  REQUIRE(bench.was_told("watchdog_ms"));

  for (int i = 0; i < beats; ++i)
    bench.says(R"({"type":"heartbeat"})");
  bench.waits();

  CHECK(bench.passed() == (beats == 4));
}

TEST_CASE("strace's lines: who binds and listens, and which files are changed") {
  const Effects effects = effects_of(
      {R"(7 bind(3, {sa_family=AF_INET6, sin6_port=htons(0), sin6_addr=...}, 28) = 0)",
       R"(7 bind(3, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 0)",
       R"(7 bind(3, {sa_family=AF_UNIX}, 2) = 0)",
       R"(7 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=...}, 16) = -1 EACCES)",
       R"(7 bind(4, {sa_family=AF_UNIX, sun_path=@"name"}, 7 <unfinished ...>)",
       R"(7 listen(4, 128) = 0)", R"(openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3)",
       R"(7 openat(AT_FDCWD, "/dev/null", O_RDWR) = 3)",
       R"(7 openat(AT_FDCWD, "log", O_WRONLY|O_CREAT, 0666) = 3)",
       R"(7 openat(AT_FDCWD, "log", O_WRONLY|O_APPEND) = 3)",
       R"(7 openat(AT_FDCWD, "absent/log", O_WRONLY|O_CREAT, 0666) = -1 ENOENT)",
       R"(7 unlink("old") = 0)", R"(7 rename("new", "old") = 0)", R"(7 mkdir("dir", 0777) = 0)"});

  CHECK(effects.faults.size() == 3);
  CHECK(effects.notes == std::vector<std::string>{"it opened log for writing while it was held",
                                                  "it removed old while it was held",
                                                  "it renamed new while it was held",
                                                  "it made the directory dir while it was held"});
}

TEST_CASE("every check has a name of its own, and needs only checks that come before it") {
  std::vector<std::string_view> seen;
  for (const Check& check : all_checks()) {
    CAPTURE(check.name);
    CHECK(std::find(seen.begin(), seen.end(), check.name) == seen.end());
    CHECK_FALSE(check.quotes.empty());
    for (const std::string_view need : check.needs)
      CHECK(std::find(seen.begin(), seen.end(), need) != seen.end());
    seen.push_back(check.name);
  }
}

TEST_CASE("an agent with readiness is told that the upgrader has it, and extends until healthy") {
  const std::string name =
      GENERATE(as<std::string>(), "stop", "white-space", "unknown-members", "fallback");
  Bench bench(name);
  bench.says(R"({"type":"hello","protocol":1,"features":["other","readiness"]})");
  CHECK((bench.was_told(R"("features":["readiness"])") || name == "white-space"));
  CHECK(bench.was_told(R"(["readiness")"));
  bench.says(R"({"type":"ready"})");
  REQUIRE(bench.was_told("activate"));

  bench.says(R"({"type":"extend","ms":60000})");
  bench.says(R"({"type":"healthy"})");
  CHECK_FALSE(bench.was_told("error"));
  bench.says(R"({"type":"extend","ms":60000})");
  CHECK(bench.was_told("it has said healthy, and was not told to stop"));
}

TEST_CASE("an agent without readiness is told no feature, and does not extend while active") {
  Bench bench("stop");
  bench.says(R"({"type":"hello","protocol":1,"features":["other"]})");
  CHECK(bench.was_told(R"("features":[])"));
  bench.says(R"({"type":"ready"})");

  bench.says(R"({"type":"extend","ms":60000})");

  CHECK(bench.was_told("it was not told to stop"));
}

TEST_CASE("a fallback at boot is on trial: its healthy is answered with committed") {
  Bench bench("fallback-boot");

  bench.becomes_ready();
  bench.says(R"({"type":"healthy"})");

  CHECK(bench.fault() == "");
  CHECK(bench.was_told(R"({"type":"committed","id":"boot","generation":2})"));
}

TEST_CASE("a fallback after a failed upgrade has no trial: its healthy is refused") {
  Bench bench("fallback");

  bench.becomes_ready();
  bench.says(R"({"type":"healthy"})");

  CHECK(bench.was_told("it is not on trial"));
}

}  // namespace play_test
